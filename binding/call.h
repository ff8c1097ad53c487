/* call.h: one trampoline for each entry of the table, in its order, as cgo cannot call function pointers. */
#ifndef MPITX_CALL_H
#define MPITX_CALL_H
#include "shim/mpitx.h"

static inline int mt_get_version(const struct mpitx_table *t, int *version, int *subversion) { return t->get_version(version, subversion); }
static inline int mt_get_library_version(const struct mpitx_table *t, char *buf, int len) { return t->get_library_version(buf, len); }
static inline int mt_initialized(const struct mpitx_table *t, int *flag) { return t->initialized(flag); }
static inline int mt_finalized(const struct mpitx_table *t, int *flag) { return t->finalized(flag); }
static inline int mt_init_thread(const struct mpitx_table *t, int required, int *provided) { return t->init_thread(required, provided); }
static inline int mt_finalize(const struct mpitx_table *t) { return t->finalize(); }
static inline int mt_query_thread(const struct mpitx_table *t, int *provided) { return t->query_thread(provided); }
static inline int mt_has(const struct mpitx_table *t, const char *routine) { return t->has(routine); }
static inline int mt_qmpi(const struct mpitx_table *t) { return t->qmpi(); }
static inline int mt_world(const struct mpitx_table *t, int *rank, int *size) { return t->world(rank, size); }
static inline int mt_processor_name(const struct mpitx_table *t, char *buf, int len) { return t->processor_name(buf, len); }
static inline int mt_isend(const struct mpitx_table *t, int object, const void *buf, int bytes, int dest, int tag, mpitx_request *request) { return t->isend(object, buf, bytes, dest, tag, request); }
static inline int mt_irecv(const struct mpitx_table *t, int object, void *buf, int bytes, int source, int tag, mpitx_request *request) { return t->irecv(object, buf, bytes, source, tag, request); }
static inline int mt_iprobe(const struct mpitx_table *t, int object, int source, int tag, int *flag, int *actual_source, int *bytes) { return t->iprobe(object, source, tag, flag, actual_source, bytes); }
static inline int mt_test(const struct mpitx_table *t, mpitx_request *request, int *flag) { return t->test(request, flag); }
static inline int mt_t_init_thread(const struct mpitx_table *t, int required, int *provided) { return t->t_init_thread(required, provided); }
static inline int mt_t_finalize(const struct mpitx_table *t) { return t->t_finalize(); }
static inline int mt_enum_get_info(const struct mpitx_table *t, mpitx_handle enumtype, int *num, char *name, int *name_len) { return t->enum_get_info(enumtype, num, name, name_len); }
static inline int mt_enum_get_item(const struct mpitx_table *t, mpitx_handle enumtype, int index, int *value, char *name, int *name_len) { return t->enum_get_item(enumtype, index, value, name, name_len); }
static inline int mt_cvar_get_num(const struct mpitx_table *t, int *num) { return t->cvar_get_num(num); }
static inline int mt_cvar_get_info(const struct mpitx_table *t, int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_cvar_info *info) { return t->cvar_get_info(index, name, name_len, desc, desc_len, info); }
static inline int mt_cvar_get_index(const struct mpitx_table *t, const char *name, int *index) { return t->cvar_get_index(name, index); }
static inline int mt_cvar_handle_alloc(const struct mpitx_table *t, int index, int object, mpitx_handle *handle, int *count) { return t->cvar_handle_alloc(index, object, handle, count); }
static inline int mt_cvar_handle_free(const struct mpitx_table *t, mpitx_handle *handle) { return t->cvar_handle_free(handle); }
static inline int mt_cvar_read(const struct mpitx_table *t, mpitx_handle handle, void *buf) { return t->cvar_read(handle, buf); }
static inline int mt_cvar_write(const struct mpitx_table *t, mpitx_handle handle, const void *buf) { return t->cvar_write(handle, buf); }
static inline int mt_pvar_get_num(const struct mpitx_table *t, int *num) { return t->pvar_get_num(num); }
static inline int mt_pvar_get_info(const struct mpitx_table *t, int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_pvar_info *info) { return t->pvar_get_info(index, name, name_len, desc, desc_len, info); }
static inline int mt_pvar_get_index(const struct mpitx_table *t, const char *name, int var_class, int *index) { return t->pvar_get_index(name, var_class, index); }
static inline int mt_pvar_session_create(const struct mpitx_table *t, mpitx_handle *session) { return t->pvar_session_create(session); }
static inline int mt_pvar_session_free(const struct mpitx_table *t, mpitx_handle *session) { return t->pvar_session_free(session); }
static inline int mt_pvar_handle_alloc(const struct mpitx_table *t, mpitx_handle session, int index, int object, mpitx_handle *handle, int *count) { return t->pvar_handle_alloc(session, index, object, handle, count); }
static inline int mt_pvar_handle_free(const struct mpitx_table *t, mpitx_handle session, mpitx_handle *handle) { return t->pvar_handle_free(session, handle); }
static inline int mt_pvar_start(const struct mpitx_table *t, mpitx_handle session, mpitx_handle handle) { return t->pvar_start(session, handle); }
static inline int mt_pvar_stop(const struct mpitx_table *t, mpitx_handle session, mpitx_handle handle) { return t->pvar_stop(session, handle); }
static inline int mt_pvar_read(const struct mpitx_table *t, mpitx_handle session, mpitx_handle handle, void *buf) { return t->pvar_read(session, handle, buf); }
static inline int mt_pvar_write(const struct mpitx_table *t, mpitx_handle session, mpitx_handle handle, const void *buf) { return t->pvar_write(session, handle, buf); }
static inline int mt_pvar_reset(const struct mpitx_table *t, mpitx_handle session, mpitx_handle handle) { return t->pvar_reset(session, handle); }
static inline int mt_pvar_readreset(const struct mpitx_table *t, mpitx_handle session, mpitx_handle handle, void *buf) { return t->pvar_readreset(session, handle, buf); }
static inline int mt_category_get_num(const struct mpitx_table *t, int *num) { return t->category_get_num(num); }
static inline int mt_category_get_info(const struct mpitx_table *t, int index, char *name, int *name_len, char *desc, int *desc_len, int *num_cvars, int *num_pvars, int *num_categories) { return t->category_get_info(index, name, name_len, desc, desc_len, num_cvars, num_pvars, num_categories); }
static inline int mt_category_get_index(const struct mpitx_table *t, const char *name, int *index) { return t->category_get_index(name, index); }
static inline int mt_category_get_cvars(const struct mpitx_table *t, int index, int len, int indices[]) { return t->category_get_cvars(index, len, indices); }
static inline int mt_category_get_pvars(const struct mpitx_table *t, int index, int len, int indices[]) { return t->category_get_pvars(index, len, indices); }
static inline int mt_category_get_categories(const struct mpitx_table *t, int index, int len, int indices[]) { return t->category_get_categories(index, len, indices); }
static inline int mt_category_changed(const struct mpitx_table *t, int *stamp) { return t->category_changed(stamp); }
static inline int mt_category_get_num_events(const struct mpitx_table *t, int index, int *num_events) { return t->category_get_num_events(index, num_events); }
static inline int mt_category_get_events(const struct mpitx_table *t, int index, int len, int indices[]) { return t->category_get_events(index, len, indices); }
static inline int mt_source_get_num(const struct mpitx_table *t, int *num) { return t->source_get_num(num); }
static inline int mt_source_get_info(const struct mpitx_table *t, int index, char *name, int *name_len, char *desc, int *desc_len, struct mpitx_source_info *info) { return t->source_get_info(index, name, name_len, desc, desc_len, info); }
static inline int mt_source_get_timestamp(const struct mpitx_table *t, int index, int64_t *timestamp) { return t->source_get_timestamp(index, timestamp); }
static inline int mt_event_get_num(const struct mpitx_table *t, int *num) { return t->event_get_num(num); }
static inline int mt_event_get_info(const struct mpitx_table *t, int index, char *name, int *name_len, char *desc, int *desc_len, int datatypes[], int64_t displacements[], struct mpitx_event_info *info) { return t->event_get_info(index, name, name_len, desc, desc_len, datatypes, displacements, info); }
static inline int mt_event_get_index(const struct mpitx_table *t, const char *name, int *index) { return t->event_get_index(name, index); }
static inline int mt_event_handle_alloc(const struct mpitx_table *t, int index, int object, mpitx_handle info, mpitx_handle *registration) { return t->event_handle_alloc(index, object, info, registration); }
static inline int mt_event_handle_set_info(const struct mpitx_table *t, mpitx_handle registration, mpitx_handle info) { return t->event_handle_set_info(registration, info); }
static inline int mt_event_handle_get_info(const struct mpitx_table *t, mpitx_handle registration, mpitx_handle *info) { return t->event_handle_get_info(registration, info); }
static inline int mt_event_callback_set_info(const struct mpitx_table *t, mpitx_handle registration, int safety, mpitx_handle info) { return t->event_callback_set_info(registration, safety, info); }
static inline int mt_event_callback_get_info(const struct mpitx_table *t, mpitx_handle registration, int safety, mpitx_handle *info) { return t->event_callback_get_info(registration, safety, info); }
static inline int mt_event_read(const struct mpitx_table *t, mpitx_handle instance, int element, void *buf) { return t->event_read(instance, element, buf); }
static inline int mt_event_copy(const struct mpitx_table *t, mpitx_handle instance, void *buf) { return t->event_copy(instance, buf); }
static inline int mt_event_get_timestamp(const struct mpitx_table *t, mpitx_handle instance, int64_t *timestamp) { return t->event_get_timestamp(instance, timestamp); }
static inline int mt_event_get_source(const struct mpitx_table *t, mpitx_handle instance, int *source) { return t->event_get_source(instance, source); }
static inline int mt_info_create(const struct mpitx_table *t, mpitx_handle *info) { return t->info_create(info); }
static inline int mt_info_set(const struct mpitx_table *t, mpitx_handle info, const char *key, const char *value) { return t->info_set(info, key, value); }
static inline int mt_info_get_nkeys(const struct mpitx_table *t, mpitx_handle info, int *num) { return t->info_get_nkeys(info, num); }
static inline int mt_info_get_nthkey(const struct mpitx_table *t, mpitx_handle info, int n, char *key) { return t->info_get_nthkey(info, n, key); }
static inline int mt_info_get(const struct mpitx_table *t, mpitx_handle info, const char *key, char *value, int *flag) { return t->info_get(info, key, value, flag); }
static inline int mt_info_free(const struct mpitx_table *t, mpitx_handle *info) { return t->info_free(info); }
static inline int mt_peruse_init(const struct mpitx_table *t) { return t->peruse_init(); }
static inline int mt_peruse_query_supported_events(const struct mpitx_table *t, int *num, char ***names, int **events) { return t->peruse_query_supported_events(num, names, events); }
static inline int mt_peruse_query_event(const struct mpitx_table *t, const char *name, int *event) { return t->peruse_query_event(name, event); }
static inline int mt_peruse_query_event_name(const struct mpitx_table *t, int event, char **name) { return t->peruse_query_event_name(event, name); }
static inline int mt_peruse_query_environment(const struct mpitx_table *t, int *num, char ***env) { return t->peruse_query_environment(num, env); }
static inline int mt_peruse_query_queue_event_scope(const struct mpitx_table *t, int *scope) { return t->peruse_query_queue_event_scope(scope); }
static inline int mt_peruse_event_activate(const struct mpitx_table *t, mpitx_handle handle) { return t->peruse_event_activate(handle); }
static inline int mt_peruse_event_deactivate(const struct mpitx_table *t, mpitx_handle handle) { return t->peruse_event_deactivate(handle); }
static inline int mt_peruse_event_release(const struct mpitx_table *t, mpitx_handle *handle) { return t->peruse_event_release(handle); }
static inline int mt_peruse_event_get(const struct mpitx_table *t, mpitx_handle handle, int *event) { return t->peruse_event_get(handle, event); }
static inline int mt_peruse_event_object_get(const struct mpitx_table *t, mpitx_handle handle, int *object) { return t->peruse_event_object_get(handle, object); }
static inline int mt_peruse_event_propagate(const struct mpitx_table *t, mpitx_handle handle, int mode) { return t->peruse_event_propagate(handle, mode); }
static inline int mt_peruse_lock(const struct mpitx_table *t) { return t->peruse_lock(); }
static inline int mt_peruse_unlock(const struct mpitx_table *t) { return t->peruse_unlock(); }
static inline int mt_comm_dup(const struct mpitx_table *t, int object, int *duplicate) { return t->comm_dup(object, duplicate); }
static inline int mt_comm_free(const struct mpitx_table *t, int *object) { return t->comm_free(object); }

static inline int mt_get_info_without(const struct mpitx_table *t, int list, int index, unsigned without) { return t->get_info_without(list, index, without); }
static inline int mt_watch_errors(const struct mpitx_table *t, mpitx_error_fn *function) { return t->watch_errors(function); }
static inline void mt_public_names(const struct mpitx_table *t, int on) { t->public_names(on); }

/* Defined in event.c. id is a cgo.Handle; 0: no function. */
int mt_event_handle_free(const struct mpitx_table *t, mpitx_handle registration, uintptr_t id);
int mt_event_register_callback(const struct mpitx_table *t, mpitx_handle registration, int safety, mpitx_handle info, uintptr_t id);
int mt_event_set_dropped_handler(const struct mpitx_table *t, mpitx_handle registration, uintptr_t id);

#endif
