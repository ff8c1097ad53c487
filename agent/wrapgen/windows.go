package wrapgen

import (
	"slices"
	"strings"
)

// epochs are C code before and after the functions that open and close epochs of windows (enum chain_epoch).
var epochs = map[string][2]string{
	"MPI_Win_lock": {"chain_state_epoch(assert & MPI_MODE_NOCHECK ? CHAIN_EPOCH_NONE : lock_type == MPI_LOCK_EXCLUSIVE ? CHAIN_EPOCH_EXCLUSIVE : CHAIN_EPOCH_SHARED, state, rank, 0);",
		"chain_state_epoch(rc == MPI_SUCCESS ? CHAIN_EPOCH_LOCKED : CHAIN_EPOCH_UNLOCKED, state, rank, 0);"},
	"MPI_Win_lock_all": {"chain_state_epoch(assert & MPI_MODE_NOCHECK ? CHAIN_EPOCH_NONE : CHAIN_EPOCH_SHARED, state, CHAIN_ALL_TARGETS, 0);",
		"chain_state_epoch(rc == MPI_SUCCESS ? CHAIN_EPOCH_LOCKED : CHAIN_EPOCH_UNLOCKED, state, CHAIN_ALL_TARGETS, 0);"},
	"MPI_Win_unlock":     {"", succeeded("CHAIN_EPOCH_UNLOCKED", "rank")},
	"MPI_Win_unlock_all": {"", succeeded("CHAIN_EPOCH_UNLOCKED", "CHAIN_ALL_TARGETS")},
	"MPI_Win_flush":      {"", succeeded("CHAIN_EPOCH_FLUSHED", "rank")},
	"MPI_Win_flush_all":  {"", succeeded("CHAIN_EPOCH_FLUSHED", "CHAIN_ALL_TARGETS")},
	"MPI_Win_post":       {"chain_state_epoch(CHAIN_EPOCH_POST, state, 0, HANDLE_NUMBER(group));", ""},
	"MPI_Win_start":      {"chain_state_epoch(CHAIN_EPOCH_START, state, 0, HANDLE_NUMBER(group));", ""},
	"MPI_Win_complete":   {"", succeeded("CHAIN_EPOCH_COMPLETED", "0")},
	"MPI_Win_wait":       {"", succeeded("CHAIN_EPOCH_WAITED", "0")},
	"MPI_Win_test":       {"", "if (rc == MPI_SUCCESS && *flag) chain_state_epoch(CHAIN_EPOCH_WAITED, state, 0, 0);"},
	"MPI_Win_free":       {"", succeeded("CHAIN_EPOCH_FREED", "0")},
}

func succeeded(what, target string) string {
	return "if (rc == MPI_SUCCESS) chain_state_epoch(" + what + ", state, " + target + ", 0);"
}

// Functions that complete one-sided operations, which count as progress themselves.
var completing = []string{"MPI_Win_lock", "MPI_Win_lock_all", "MPI_Win_unlock", "MPI_Win_unlock_all", "MPI_Win_flush", "MPI_Win_flush_all", "MPI_Win_flush_local",
	"MPI_Win_flush_local_all", "MPI_Win_sync"}

// The operations that read, with the buffer, and the number and type of what they read.
var reading = map[string][3]string{
	"MPI_Get":              {"origin_addr", "origin_count", "origin_datatype"},
	"MPI_Rget":             {"origin_addr", "origin_count", "origin_datatype"},
	"MPI_Get_accumulate":   {"result_addr", "result_count", "result_datatype"},
	"MPI_Rget_accumulate":  {"result_addr", "result_count", "result_datatype"},
	"MPI_Fetch_and_op":     {"result_addr", "1", "datatype"},
	"MPI_Compare_and_swap": {"result_addr", "1", "datatype"},
}

// onWindow adds what happens to epochs and to reads.
func (f Function) onWindow(s *State, k kind) {
	name := strings.TrimSuffix(f.Name, "_c")
	epoch := epochs[name]
	if name == "MPI_Win_free" && f.Kind != "win_free" {
		return
	}
	s.Open += " " + epoch[0]
	s.Posts = strings.TrimSpace(s.Posts + " " + epoch[1])
	switch {
	case reading[name][0] != "" && strings.Contains(s.Posts, "posted_add"):
		s.Posts = "if (rc == MPI_SUCCESS) { " + strings.TrimPrefix(s.Posts, "if (rc == MPI_SUCCESS) ") + " chain_state_read_request(HANDLE_NUMBER(*request)); }"
	case strings.HasPrefix(name, "MPI_Win_unlock"):
		s.Done = "chain_state_unlocked(state)"
	case strings.HasPrefix(name, "MPI_Win_flush"):
		s.Posts = strings.TrimSpace("chain_state_completed(state); " + s.Posts)
	case name == "MPI_Wait":
		s.Posts = strings.TrimSpace("chain_state_completed(state); " + s.Posts)
	case name == "MPI_Test":
		s.Posts = "bool reads = chain_state_repeats(state); if (rc == MPI_SUCCESS && *flag) { chain_state_completed(state); } " + s.Posts
		s.Done += " && !reads"
	case k.class == "RMA" && f.has("target_rank", "int"):
		s.Open += " chain_state_operation(state->object, target_rank);"
	}
}

// progress is C code before a call that does not poll: what makes it progress, if anything.
func (f Function) progress() string {
	name := strings.TrimSuffix(f.Name, "_c")
	if r := reading[name]; r[0] != "" {
		return "chain_state_read(state, (int64_t)target_disp, " + r[0] + ", describe_plain(" + r[1] + ", " + r[2] + "));"
	}
	if name == "MPI_Wait" {
		return "state->progress += !chain_state_repeats(state);"
	}
	if slices.Contains(completing, name) {
		return ""
	}
	return "state->progress++;"
}
