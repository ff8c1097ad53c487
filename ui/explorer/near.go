package explorer

import (
	"slices"
	"strings"
	"sync"
)

// near are groups of words that are near in meaning: a search for one also finds the others. The first of a group is the one that the
// others are looked up by.
var near = sync.OnceValue(func() (groups [][]string) {
	for line := range strings.Lines(`
shared memory, shm, shmem, sm, vader, on a node, within a node, intra-node, intranode, same node, posix
largest, biggest, longest, greatest, max, maximum, limit, upper bound, at most
smallest, shortest, min, minimum, at least, lower bound
threshold, thresh, cutoff, limit
message, msg
eager, short messages, without asking
rendezvous, rndv, rndvz, after asking
size, sz, bytes, length, len
number, num, count, how many
buffer, buf
receive, recv, rcv
send, snd, sent
collective, coll
algorithm, algo, algorithms
broadcast, bcast
barrier, synchronization
one-sided, rma, osc, window, win
file, io, romio, ompio
thread, threads, multithreaded
bind, binding, pin, pinning, affinity, placement
wait, waiting, idle, yield, poll, polling, spin, busy
registration, registered, register, pinned, rcache
directory, dir, folder, path
transport, network, netmod, btl, mtl, fabric, interconnect
interface, nic, iface, card, if
ethernet, tcp, socket
infiniband, ib, openib, verbs
libfabric, ofi
segment, chunk, fragment, frag, pipeline, piece
verbose, verbosity, debug, log, print
error, failure, fault
check, verify, validate
abort, terminate, kill
gpu, cuda, accelerator
single copy, single-copy, cma, xpmem, knem, copied once, zero copy, zcopy
priority, preference, precedence, order
timeout, delay, seconds
hierarchical, han, by node first
progress, asynchronous, async, background
oversubscribe, oversubscription, more processes than cores
statistics, counter, counters, spc
`) {
		var words []string
		for w := range strings.SplitSeq(line, ",") {
			if w = strings.TrimSpace(w); w != "" {
				words = append(words, w)
			}
		}
		if words != nil {
			groups = append(groups, words)
		}
	}
	return groups
})

// minNear is the length from which a word that is being typed stands for those that it begins.
const minNear = 3

// longer are the phrases of the groups.
var longer = sync.OnceValue(func() (all []string) {
	for _, group := range near() {
		for _, w := range group {
			if strings.Contains(w, " ") {
				all = append(all, w)
			}
		}
	}
	return all
})

// fillers are words that say nothing about a variable.
var fillers = strings.Fields("a an the of on in for to is are be by or and with that which what how my when from through")

// phrases splits the words of a query into what is looked for: words, and phrases of groups. Fillers are left out, unless there is nothing
// else.
func phrases(words []string) (out []string) {
	for i := 0; i < len(words); {
		n := phrase(words[i:])
		if n > 1 || !slices.Contains(fillers, words[i]) {
			out = append(out, strings.Join(words[i:i+n], " "))
		}
		i += n
	}
	if out == nil {
		return words
	}
	return out
}

// phrase is the number of words at the beginning of a query that are a phrase of a group, or begin one that is being typed.
func phrase(words []string) int {
	longest := 1
	for _, w := range longer() {
		if !strings.HasPrefix(w, words[0]) {
			continue
		}
		n := min(1+strings.Count(w, " "), len(words))
		if text := strings.Join(words[:n], " "); n > longest && (text == w || n == len(words) && strings.HasPrefix(w, text)) {
			longest = n
		}
	}
	return longest
}

// alike are the words that are near to one or to a phrase, which may not be typed to its end.
func alike(word string, typing bool) (out []string) {
	is := func(w string) bool {
		return w == word || w+"s" == word || typing && len(word) >= minNear && strings.HasPrefix(w, word)
	}
	for _, group := range near() {
		if !slices.ContainsFunc(group, is) {
			continue
		}
		for _, w := range group {
			if !strings.HasPrefix(w, word) && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// wordAt is where a text has a whole word or phrase, in its plural, too; -1: nowhere.
func wordAt(s, word string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return -1
		}
		i += from
		end := i + len(word)
		if end < len(s) && s[end] == 's' {
			end++
		}
		if (i == 0 || wordStart(s, i)) && (end == len(s) || wordStart(s, end+1)) {
			return i
		}
		from = i + 1
	}
}
