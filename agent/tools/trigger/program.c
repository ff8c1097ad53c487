#include "tools/trigger/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

enum code {
    NUMBER, BYTES, SENT, RECEIVED, PEER, TAG, ROOT, TIME, WORLD, SELF, COMM, FUNCTION, LOAD,
    IF, UNLESS, EQ, NE, LT, LE, GT, GE, AND, OR, NOT
};

static const struct {
    const char *text;
    uint8_t code;
} plain[] = {
    {"bytes", BYTES}, {"sent", SENT}, {"received", RECEIVED}, {"peer", PEER}, {"tag", TAG}, {"root", ROOT},
        {"time", TIME},
    {"comm:world", WORLD}, {"comm:self", SELF}, {"eq", EQ}, {"ne", NE}, {"lt", LT}, {"le", LE}, {"gt", GT}, {"ge", GE},
    {"and", AND},
    {"or", OR}, {"not", NOT},
};

/* ---- reading ---- */

/* Reads a decimal number below a limit and returns what follows it, or NULL. */
static const char *read_number(const char *text, uint32_t limit, uint32_t *number)
{
    uint64_t n = 0;
    if (*text < '0' || *text > '9') return NULL;
    for (; *text >= '0' && *text <= '9'; text++)
        if ((n = n * 10 + (uint64_t)(*text - '0')) >= limit) return NULL;
    *number = (uint32_t)n;
    return text;
}

static bool read_bits(const char *text, double *number)
{
    char *after;
    if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) return false;
    uint64_t bits = strtoull(text, &after, 16);
    memcpy(number, &bits, sizeof *number);
    return true;
}

/* K:MODE[:ns] */
static bool read_load(struct program *p, struct program_word *word, const char *text)
{
    static const char *const modes[] = {"sum", "max", "min", "delta", "rate"};
    uint32_t variable;
    if (p->load_count == PROGRAM_LOADS || !(text = read_number(text, PROGRAM_LOADS, &variable)) || *text++ != ':')
        return false;
    struct program_load *load = &p->loads[p->load_count];
    *load = (struct program_load){.variable = (uint8_t)variable, .mode = PROGRAM_ELEMENT};
    for (uint8_t i = 0; i < PROGRAM_ELEMENT; i++) {
        size_t length = strlen(modes[i]);
        if (load->mode != PROGRAM_ELEMENT || strncmp(text, modes[i], length) != 0) continue;
        load->mode = i;
        text += length;
    }
    if (load->mode == PROGRAM_ELEMENT && !(text = read_number(text, 1 << 20, &load->element))) return false;
    load->nanoseconds = strcmp(text, ":ns") == 0;
    if (*text && !load->nanoseconds) return false;
    if (p->variables <= (int)variable) p->variables = (int)variable + 1;
    word->code = LOAD;
    word->argument = (uint8_t)p->load_count++;
    return true;
}

/* K, of a communicator or a function. */
static bool read_name(struct program_word *word, uint8_t code, int *names, const char *text)
{
    uint32_t name;
    const char *after = read_number(text, PROGRAM_NAMES, &name);
    if (!after || *after) return false;
    if (*names <= (int)name) *names = (int)name + 1;
    word->code = code;
    word->argument = (uint8_t)name;
    return true;
}

static bool read_skip(struct program_word *word, uint8_t code, const char *text)
{
    uint32_t skip;
    const char *after = read_number(text, PROGRAM_WORDS, &skip);
    word->code = code;
    word->skip = after ? (uint8_t)skip : 0;
    return after && !*after && skip > 0;
}

static bool read_word(struct program *p, struct program_word *word, const char *text)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(plain[i].text, text) == 0) {
            word->code = plain[i].code;
            return true;
        }
    if (*text == 'n') return read_bits(text + 1, &word->number);
    if (*text == 'v') return read_load(p, word, text + 1);
    if (strncmp(text, "comm:", 5) == 0) return read_name(word, COMM, &p->comms, text + 5);
    if (strncmp(text, "function:", 9) == 0) return read_name(word, FUNCTION, &p->functions, text + 9);
    if (strncmp(text, "if:", 3) == 0) return read_skip(word, IF, text + 3);
    return strncmp(text, "unless:", 7) == 0 && read_skip(word, UNLESS, text + 7);
}

/* Whether each word finds its operands, whatever is skipped, and one value is left. */
static bool balanced(const struct program *p)
{
    int height = 0, wanted[PROGRAM_WORDS + 1];
    memset(wanted, 0xff, sizeof wanted);
    for (int i = 0; i < p->count; i++) {
        const struct program_word *word = &p->words[i];
        int after = i + 1 + word->skip;
        if (wanted[i] >= 0 && wanted[i] != height) return false;
        if (word->code == IF || word->code == UNLESS) {
            if (height < 1 || after > p->count || (wanted[after] >= 0 && wanted[after] != height)) return false;
            wanted[after] = height;
        } else if (word->code >= EQ && word->code <= OR) {
            if (height-- < 2) return false;
        } else if (word->code == NOT) {
            if (height < 1) return false;
        } else if (height++ == PROGRAM_STACK) {
            return false;
        }
    }
    return height == 1 && (wanted[p->count] < 0 || wanted[p->count] == 1);
}

const char *program_parse(struct program *p, const char *text)
{
    char word[40];
    *p = (struct program){0};
    while (*text) {
        size_t length = strcspn(text, " ");
        if (length == 0 || length >= sizeof word) return "an invalid word";
        if (p->count == PROGRAM_WORDS) return "too many words";
        memcpy(word, text, length);
        word[length] = 0;
        if (!read_word(p, &p->words[p->count++], word)) return "an unknown word";
        text += length;
        text += *text == ' ';
    }
    return balanced(p) ? NULL : "operands are missing";
}

void program_uses(const struct program *p, bool *arguments, bool *transfers, bool *time)
{
    for (const struct program_word *word = p->words, *end = word + p->count; word < end; word++) {
        *arguments |= word->code >= BYTES && word->code <= COMM && word->code != TIME;
        *transfers |= word->code == BYTES || word->code == RECEIVED;
        *time |= word->code == TIME;
    }
}

/* ---- running ---- */

static inline double known(int32_t argument) { return argument == CALL_NONE ? __builtin_nan("") : argument; }

static inline double compare(uint8_t code, double a, double b)
{
    if (__builtin_isnan(a) || __builtin_isnan(b)) return __builtin_nan("");
    switch (code) {
    case EQ: return a == b;
    case NE: return a != b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    default: return a >= b;
    }
}

static inline bool is_true(double a) { return a != 0 && !__builtin_isnan(a); }

static inline double combine(uint8_t code, double a, double b)
{
    bool decided = code == AND ? a == 0 || b == 0 : is_true(a) || is_true(b);
    if (decided) return code == OR;
    return __builtin_isnan(a) || __builtin_isnan(b) ? __builtin_nan("") : code == AND;
}

static double argument(uint8_t code, const struct chain_call *call)
{
    const struct call_description *d = &call->description;
    unsigned kind = chain_functions[call->function].kind;
    bool collective = kind == CALL_COLLECTIVE;
    if (code == TIME) return call->leave > call->enter ? (double)clock_nanoseconds(call->leave - call->enter) : 0;
    if (!call->described) return __builtin_nan("");
    if (d->unsized && (code == BYTES || code == SENT || code == RECEIVED)) return __builtin_nan(""); /* not known */
    switch (code) {
    case BYTES: return (double)(d->sent_bytes + d->received_bytes + d->gave + d->got + d->read);
    case SENT: return (double)(d->sent_bytes + d->gave);
    case RECEIVED: return (double)(d->received_bytes + d->got + d->read);
    case PEER: return collective ? __builtin_nan("") : known(d->peer);
    case TAG: return known(d->tag);
    case ROOT: return collective ? known(d->peer) : __builtin_nan("");
    }
    if (!d->comm || kind == CALL_RMA || kind == CALL_IO) return __builtin_nan(""); /* a window, a file */
    return code == WORLD ? d->comm == agent_process.world : code == SELF ? d->comm == agent_process.self : 1;
}

static inline double comm(struct program_subject *subject, int name)
{
    double any = argument(COMM, subject->call);
    return any == 1 ? subject->comm(subject, name) : any;
}

double program_run(const struct program *p, struct program_subject *subject)
{
    double stack[PROGRAM_STACK + 1], *top = stack; /* stack[0] is unused */
    for (const struct program_word *word = p->words, *end = word + p->count; word < end; word++) {
        switch (word->code) {
        case NUMBER: *++top = word->number; break;
        case LOAD: *++top = subject->load(subject, word->argument); break;
        case COMM: *++top = comm(subject, word->argument); break;
        case FUNCTION: *++top = subject->function(subject, word->argument); break;
        case IF: word += *top == 0 ? word->skip : 0; break;
        case UNLESS: word += is_true(*top) ? word->skip : 0; break;
        case AND:
        case OR: top--; *top = combine(word->code, top[0], top[1]); break;
        case NOT: *top = __builtin_isnan(*top) ? *top : *top == 0; break;
        case EQ: case NE: case LT: case LE: case GT: case GE: top--; *top = compare(word->code, top[0], top[1]); break;
        default: *++top = argument(word->code, subject->call); break;
        }
    }
    return *top;
}
