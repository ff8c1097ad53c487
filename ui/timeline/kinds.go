package timeline

import (
	"strings"

	"mpitx/ui/term"
)

type kind uint8

const (
	kindSend kind = iota
	kindReceive
	kindWait
	kindProbe
	kindCollective
	kindOneSided
	kindFile
	kindStart
	kindOther
	kinds
)

var kindInfo = [kinds]struct {
	letter byte
	name   string
	color  term.Color
}{
	kindSend: {'S', "send", term.Accent}, kindReceive: {'R', "receive", term.Good}, kindWait: {'W', "wait, test", term.Warn}, kindProbe: {'P', "probe", term.Warn},
	kindCollective: {'C', "collective", term.Match}, kindOneSided: {'O', "one-sided", term.Accent}, kindFile: {'F', "file", term.Good},
	kindStart: {'I', "init, finalize", term.Muted}, kindOther: {'M', "other", term.Default},
}

// kindNames are the beginnings of functions' names in lower case, without MPI_ and a leading I of collectives; the first that fits decides.
var kindNames = []struct {
	kind  kind
	names string
}{
	{kindStart, "init finalize session_init session_finalize abort"},
	{kindFile, "file_"},
	{kindOneSided, "win_ put get accumulate rput rget raccumulate fetch_and_op compare_and_swap get_accumulate rget_accumulate"},
	{kindProbe, "probe iprobe mprobe improbe"},
	{kindReceive, "recv irecv mrecv imrecv recv_init precv_init parrived"},
	{kindSend, "send isend bsend ibsend ssend issend rsend irsend sendrecv isendrecv bsend_init send_init ssend_init rsend_init psend_init start pready buffer_"},
	{kindWait, "wait test request_get_status"},
	{kindCollective, "barrier bcast gather scatter allgather alltoall reduce allreduce scan exscan neighbor_ comm_split comm_dup comm_create comm_spawn"},
}

func kindOf(function string) kind {
	name := strings.ToLower(strings.TrimPrefix(function, "MPI_"))
	if strings.HasPrefix(name, "get_") && !strings.HasPrefix(name, "get_accumulate") || strings.HasPrefix(name, "initialized") || strings.HasPrefix(name, "finalized") {
		return kindOther
	}
	for _, k := range kindNames {
		for _, begin := range strings.Fields(k.names) {
			if strings.HasPrefix(name, begin) || k.kind == kindCollective && strings.HasPrefix(name, "i"+begin) {
				return k.kind
			}
		}
	}
	return kindOther
}
