package natslink

import (
	"context"
	"net"
	"sync"
	"time"

	"termhost/authz/admit"
)

// What one host may send over all its connections; what it sends beyond that is read later.
var (
	// bytesRate is in bytes: as fast as a line of half a gigabit is.
	bytesRate = admit.Rate{PerSecond: 64 << 20, Burst: 16 << 20}
	// headsRate is in bytes that are no payload: a message costs its receiver and the server time,
	// however short it is, and so does what is none. It is worth 10,000 messages a second that an
	// honest host sends, and 50,000 of the shortest. At once there are fewer than pendingMessages,
	// which would have its receiver lose what others send.
	headsRate = admit.Rate{PerSecond: 1 << 20, Burst: 512 << 10}
)

// weighAfter is after how many bytes the payload among them is asked for.
const weighAfter = 64 << 10

// budget is what a host may still send.
type budget struct{ bytes, heads admit.Bucket }

// visitor is a connection to a Server.
type visitor struct {
	net.Conn
	entrance  *entrance
	admission *admit.Admission
	remote    string

	ctx    context.Context // ends with the connection
	cancel context.CancelFunc
	closed sync.Once

	// For Read only, of which the server runs one at a time.
	late      time.Time // when the next one may read
	unweighed int       // bytes
	payload   int64     // in bytes, when it was last weighed

	// Guarded by entrance.mu.
	name   string
	id     uint64  // the server's
	budget *budget // nil: the peer has not said who it is
}

// Read reads, at the pace that the host may have.
func (v *visitor) Read(p []byte) (int, error) {
	if err := admit.Pause(v.ctx, time.Until(v.late)); err != nil {
		return 0, net.ErrClosed
	}
	n, err := v.Conn.Read(p)
	v.pace(n)
	return n, err
}

// pace takes n bytes out of the host's budget.
func (v *visitor) pace(n int) {
	b, id := v.entrance.budgetOf(v)
	if b == nil {
		return
	}
	now := time.Now()
	wait := b.bytes.Take(bytesRate, n, now)
	if v.unweighed += n; v.unweighed >= weighAfter {
		payload := v.entrance.payload(id)
		// What the server has read and not counted yet is given back the next time.
		heads := v.unweighed - int(payload-v.payload)
		v.unweighed, v.payload = 0, payload
		wait = max(wait, b.heads.Take(headsRate, heads, now))
	}
	v.late = now.Add(wait)
}

// Close ends the connection.
func (v *visitor) Close() error {
	err := v.Conn.Close()
	v.closed.Do(func() {
		v.cancel()
		v.admission.Leave()
		v.entrance.forget(v)
	})
	return err
}
