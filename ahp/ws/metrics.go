package ws

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"

	"termhost/ahp/host"
)

// metricsPath is where Prometheus looks.
const metricsPath = "/metrics"

// metrics answers peers of this machine, and others with a token.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, d *door, remote net.Addr) error {
	if !fromHere(r, d, remote) {
		if _, err := s.authenticate(r, d, remote); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(appendMetrics(nil, s.cfg.Host.Stats())) // a peer that left needs no answer
	return nil
}

// fromHere reports whether a request comes from this machine itself and has not
// been passed on by a proxy that says so.
func fromHere(r *http.Request, d *door, remote net.Addr) bool {
	if d.name != host.DoorWebSocket {
		return false // its door says who it is
	}
	addr, _, err := net.SplitHostPort(remote.String())
	proxied := r.Header.Get("Forwarded") != "" || r.Header.Get("X-Forwarded-For") != ""
	return err == nil && isLoopback(addr) && !proxied
}

// appendMetrics appends the figures in Prometheus' text format 0.0.4. They are
// few and need no library; what runs the process (systemd, a node exporter)
// knows its CPU time and descriptors.
func appendMetrics(dst []byte, st host.Stats) []byte {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	metric := func(name, kind, help string, value any) {
		dst = fmt.Appendf(dst, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", name, help, name, kind, name, value)
	}
	metric("termhost_terminals", "gauge", "Running terminals.", st.Terminals)
	metric("termhost_terminals_exited", "gauge", "Exited terminals that are still listed.", st.Exited)
	metric("termhost_clients", "gauge", "Client ids that are bound to a principal.", st.Clients)
	metric("termhost_server_seq", "counter", "The last serverSeq given out.", st.ServerSeq)
	metric("go_goroutines", "gauge", "Goroutines.", runtime.NumGoroutine())
	metric("go_memstats_heap_inuse_bytes", "gauge", "Heap in use.", m.HeapInuse)
	metric("go_memstats_sys_bytes", "gauge", "Memory taken from the system.", m.Sys)
	const name = "termhost_connections"
	dst = fmt.Appendf(dst, "# HELP %s Connections by door.\n# TYPE %s gauge\n", name, name)
	doors := []string{host.DoorSSH, host.DoorSubsystem, host.DoorWebSocket, host.DoorUnix, host.DoorForward}
	for d := range maps.Keys(st.Connections) {
		if !slices.Contains(doors, d) {
			doors = append(doors, d)
		}
	}
	for _, d := range doors {
		dst = fmt.Appendf(dst, "%s{door=\"%s\"} %d\n", name, strings.ReplaceAll(d, `"`, ""), st.Connections[d])
	}
	return dst
}
