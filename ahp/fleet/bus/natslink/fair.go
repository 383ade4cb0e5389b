package natslink

// fair bounds how much of what a subscription has received one host may have sent, once more waits
// than is handled: a host that floods would have what others send dropped. Only the subscription's
// goroutine uses it.
type fair struct {
	most   backlog // that may wait before the subscription is behind
	left   int     // messages of the window that have not come
	behind bool
	sent   map[string]int // in this window, by host; only while behind
}

// backlog is how much waits.
type backlog struct{ messages, bytes int }

// mostControl and mostBytes are for each class of messages: whoever asks waits behind all, but one
// host's streams that flow may have much under way. When pendingMessages or pendingBytes wait,
// nats.go drops whatever comes.
var (
	mostControl = backlog{pendingMessages / 16, pendingBytes / 4}
	mostBytes   = backlog{pendingMessages / 4 * 3, pendingBytes / 4 * 3}
)

// window is of how many messages one host may have sent share.
const (
	window = 256
	share  = window / 8
)

// takes reports whether a message of a host is handled. waiting returns how much waits behind it.
func (f *fair) takes(from string, waiting func() (messages, bytes int, err error)) bool {
	if f.left == 0 {
		messages, bytes, err := waiting()
		f.behind = err == nil && (messages > f.most.messages || bytes > f.most.bytes)
		f.left, f.sent = window, nil
		if f.behind {
			f.sent = map[string]int{}
		}
	}
	f.left--
	if !f.behind {
		return true
	}
	f.sent[from]++
	return f.sent[from] <= share
}
