package local

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// askTime is how long Terminals waits for a host, which may hang.
const askTime = 2 * time.Second

// Terminals returns how many terminals the host at a unix socket runs; 0 if no host answers within
// two seconds.
func Terminals(socket string) int {
	client := http.Client{Timeout: askTime, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	answer, err := client.Get("http://localhost/metrics")
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if figure, ok := strings.CutPrefix(lines.Text(), "termhost_terminals "); ok {
			n, _ := strconv.Atoi(figure)
			return n
		}
	}
	return 0
}
