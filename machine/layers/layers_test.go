package layers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/machine"
)

// answer is what a child wrote about UCX 1.13.1 and libfabric 1.17, shortened, and log what UCX wrote.
const (
	answer = "library\tUCX\t1.13.1\nfile\tLIB\nname\tUCX_CMA_BW\tx\t\nname\tUCX_TLS\tall\tcomma-separated list of: string\nname\tUCX_NET_DEVICES\tall\t\nname\tUCX_RNDV_THRESH\tauto\tmemory units\nname\tUCX_LOG_LEVEL\tWARN\t[FATAL|ERROR|WARN|INFO]\ngiven\tUCX_RC_TX_QUEUE_LEN\ngiven\tUCX_RNDV_THRESH\nwrong\tUCX_RNDV_THRESH\nwhole\tUCX\n" +
		"library\tlibfabric\t1.17\nfile\tLIB\nname\tFI_PROVIDER\t\tstring\nname\tFI_UNIVERSE_SIZE\t\tsize_t\nname\tFI_LOG_LEVEL\t\tstring\nname\tFI_OFI_RXM_USE_SRX\t\tbool\nwhole\tlibfabric\nprovider\ttcp\nprovider\ttcp;ofi_rxm\n"
	log = "[1.5] [vm:1:0]     ucp_context.c:1014 UCX  WARN  network device 'eth9' is not available, please use one or more of: 'eth0'(tcp), 'lo'(tcp)\n" +
		"[1.5] [vm:1:0]     ucp_context.c:1014 UCX  WARN  transport 'tpc' is not available, please use one or more of: self, tcp\n" +
		"[1.5] [vm:1:0]     ucp_context.c:1014 UCX  WARN  intra-node device 'zz' is not available, please use one or more of: 'memory'(cma)\n"
)

func TestFault(t *testing.T) {
	lib := filepath.Join(t.TempDir(), "lib.so")
	if err := os.WriteFile(lib, []byte("x\x00UCX_CONFIG_DIR\x00efa_fork\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	known := Parse(strings.ReplaceAll(answer, "LIB", lib))
	known.listen(log)
	for _, c := range []struct{ name, value, want string }{
		{"UCX_TLS", "tcp,self", ""},
		{"UCX_TLS", "^tcp", ""},
		{"UCX_TLS", "self,tpc", "transport tpc is not available here; UCX 1.13.1 has self, tcp"},
		{"UCX_NET_DEVICES", "eth9", "network device eth9 is not available here; UCX 1.13.1 has 'eth0'(tcp), 'lo'(tcp)"},
		{"UCX_NET_DEVICES", "eth0", ""},
		{"UCX_TLSS", "tcp", "UCX 1.13.1 has no variable of this name; did you mean UCX_TLS?"},
		{"UCX_CUDA_COPY_MAX_EVENTS", "1", ""}, {"UCX_CUDA_CACHE", "1", ""}, {"UCX_ROCM_COPY_H2D_THRESH", "1", ""}, {"UCX_KNEM_BW", "1", ""}, // not installed
		{"UCX_RC_MLX5_X", "1", ""}, {"UCX_CUDAX_Y", "1", "UCX 1.13.1 has no variable of this name"},
		{"UCX_CMA_BAND", "1", "UCX 1.13.1 has no variable of this name; did you mean UCX_CMA_BW?"}, // installed
		{"UCX_RNDV_THRESH", "abc", "UCX 1.13.1 does not take this value; it takes memory units"},
		{"UCX_CONFIG_DIR", "/x", ""}, // read, and not listed
		{"UCX_RC_TX_QUEUE_LEN", "256", ""},
		{"FI_PROVIDER", "tcp", ""}, {"FI_PROVIDER", "^tcp;ofi_rxm", ""}, {"FI_PROVIDER", "TCP", ""},
		{"FI_PROVIDER", "tpc", "libfabric 1.17 has no provider tpc; it has ofi_rxm, tcp"},
		{"FI_PROVIDR", "tcp", "libfabric 1.17 has no variable of this name; did you mean FI_PROVIDER?"},
		{"FI_X_EFA_FORK", "1", ""}, {"FI_EFA_FORK", "1", ""}, // efa_fork is among its texts
		{"FI_UNIVERSE_SIZE", "64", ""},
		{"UCX_LOG_LEVEL", "info", ""}, {"UCX_LOG_LEVEL", "WARN", ""}, {"UCX_LOG_LEVEL", "", ""},
		{"UCX_LOG_LEVEL", "loud", "UCX 1.13.1 does not take this value; it takes [FATAL|ERROR|WARN|INFO]"},
		{"FI_LOG_LEVEL", "Info", ""},
		{"FI_LOG_LEVEL", "loud", "libfabric 1.17 does not take this value; it takes warn, trace, info or debug"},
		{"FI_UNIVERSE_SIZE", "abc", "libfabric 1.17 does not take this value; it takes a whole number"},
		{"FI_OFI_RXM_USE_SRX", "Yes", ""},
		{"FI_OFI_RXM_USE_SRX", "maybe", "libfabric 1.17 does not take this value; it takes yes or no"},
		{"PSM_DEVICES", "x", ""},
	} {
		if got := known.Fault(c.name, c.value); got != c.want {
			t.Errorf("%s=%s: %q, want %q", c.name, c.value, got, c.want)
		}
	}
}

// A library whose names did not arrive as a whole is not asked.
func TestCutOff(t *testing.T) {
	for end := range len(answer) {
		known := Parse(answer[:end])
		whole := strings.Count(answer[:end], "whole\tUCX\n") + strings.Count(answer[:end], "whole\tlibfabric\n")
		if len(known) > whole+1 || len(known) < whole {
			t.Fatalf("%q: %d libraries", answer[:end], len(known))
		}
	}
	if got := Parse("library\tUCX\t1.13.1\nname\tUCX_TLS\tall\t\n").Fault("UCX_X", "1"); got != "" {
		t.Error(got)
	}
	if got := Ask(&machine.Env{}, machine.MPI{}, nil); got != nil {
		t.Errorf("no library: %v", got)
	}
}
