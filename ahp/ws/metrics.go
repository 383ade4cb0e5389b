package ws

import (
	"fmt"
	"net/http"
	"runtime"

	"termhost/ahp/host"
	"termhost/authz"
)

// metrics writes figures of the host for Prometheus.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request, _ Peer) error {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(appendMetrics(nil, s.cfg().Host.Stats())) // a peer that left needs no answer
	return nil
}

// appendMetrics appends the figures in Prometheus' text format 0.0.4, which is
// simple enough to need no library. CPU time and descriptors are left out: what
// runs the process, such as systemd or a node exporter, knows them.
func appendMetrics(dst []byte, st host.Stats) []byte {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	metric := func(name, kind, help string, value any) {
		dst = fmt.Appendf(dst, "# HELP %s %s\n# TYPE %s %s\n%s %v\n",
			name, help, name, kind, name, value)
	}
	metric("termhost_terminals", "gauge", "Running terminals.", st.Terminals)
	metric("termhost_terminals_exited", "gauge", "Exited terminals that are still listed.",
		st.Exited)
	metric("termhost_clients", "gauge", "Client ids that are bound to a principal.", st.Clients)
	metric("termhost_server_seq", "counter", "The last serverSeq given out.", st.ServerSeq)
	metric("go_goroutines", "gauge", "Goroutines.", runtime.NumGoroutine())
	metric("go_memstats_heap_inuse_bytes", "gauge", "Heap in use.", m.HeapInuse)
	metric("go_memstats_sys_bytes", "gauge", "Memory taken from the system.", m.Sys)
	const name = "termhost_connections"
	dst = fmt.Appendf(dst, "# HELP %s Connections by door.\n# TYPE %s gauge\n", name, name)
	for _, d := range authz.Doors() {
		dst = fmt.Appendf(dst, "%s{door=\"%s\"} %d\n", name, d.Name,
			st.Connections[d.Name])
	}
	return dst
}
