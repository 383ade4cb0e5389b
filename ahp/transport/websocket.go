package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"termhost/ahp"
	"termhost/ptypool/ticks"
)

const (
	// pingInterval and pongWait bound together how long a peer whose network has
	// gone stays unnoticed: less than a minute after the last byte from it.
	pingInterval = 30 * time.Second
	pongWait     = 25 * time.Second
	// controlWait is how long sending a ping may take, the message that is being
	// written before it included.
	controlWait = 10 * time.Second
	// closeWait is how long a peer may take to read the reason of a close.
	closeWait = time.Second
)

// maxReason bounds the reason in a close frame, in bytes: a control frame carries
// 125, two of which are the code (RFC 6455 section 5.5).
const maxReason = 123

// WebSocket is a Transport with one message per text frame (RFC 6455), for either
// side. The connection below it should be a [Progress]; otherwise writes to a
// stalled peer block for ever.
type WebSocket struct {
	ws    *websocket.Conn
	below *explained // nil: a client's
	code  func() int
	max   int64
	room  int // of Read: see readAll

	heard   atomic.Bool // bytes have come since the last ping
	writing atomic.Bool // a message is being written
	closing atomic.Bool // a close frame is being sent: later messages are skipped

	once  sync.Once  // for the close frame
	mu    sync.Mutex // guards what follows; held over no I/O and no other lock
	timer *time.Timer
	asked bool  // a ping has been sent, and its answer not looked for yet
	cause error // why Read closed the transport; nil: it did not
}

// NewWebSocket returns a Transport on ws, which it owns from then on. control is called for each
// ping and pong that comes, and may wait; nil: nothing is. A message of
// more than max bytes ends it. code returns the close code (RFC 6455 section 7.4.1)
// for a reason other than [Goodbye] and [InternalError]; a nil code stands for policy
// violation. [WebSocket.Finish] must be called in the end.
func NewWebSocket(ws *websocket.Conn, max int, code func() int, control func()) *WebSocket {
	w := &WebSocket{ws: ws, code: code, max: int64(max)}
	w.below, _ = ws.NetConn().(*explained)
	if control == nil {
		control = func() {}
	}
	ws.SetReadLimit(w.max)
	pong := func(string) error { w.heard.Store(true); control(); return nil }
	answer := ws.PingHandler()
	ws.SetPongHandler(pong)
	ws.SetPingHandler(func(s string) error { w.heard.Store(true); control(); return answer(s) })
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(ticks.Wait(pingInterval), w.beat)
	return w
}

// errBinary ends a connection whose peer sends binary frames, which AHP does not use.
var errBinary = errors.New("binary frames are not supported: send each message as a text frame")

// errNotText ends a connection whose peer sends text that is not UTF-8, as RFC 6455
// section 8.1 requires. There is no such rule for lines, and the receiver may answer
// those with an error.
var errNotText = errors.New(
	"a text frame is not valid UTF-8: write bytes that are none as U+FFFD")

// Read returns the next message, io.EOF if the peer closed normally, or a
// *websocket.CloseError if the peer closed with a reason.
func (w *WebSocket) Read() ([]byte, error) {
	for {
		kind, r, err := w.ws.NextReader()
		if err != nil {
			return nil, w.ended(err)
		}
		w.heard.Store(true)
		if w.closing.Load() {
			continue
		}
		if kind != websocket.TextMessage {
			w.end(websocket.CloseUnsupportedData, errBinary)
			continue
		}
		msg, err := w.readAll(noticed{r, &w.heard})
		if err != nil {
			return nil, w.ended(err)
		}
		if !utf8.Valid(msg) { // gorilla leaves it to its caller to look
			w.end(websocket.CloseInvalidFramePayloadData, errNotText)
			continue
		}
		return msg, nil
	}
}

const (
	// leastRoom and mostRoom bound what is allocated for a message before it is read, in bytes. A
	// longer message gets more as it comes.
	leastRoom = 512
	mostRoom  = 64 << 10
)

// readAll reads a message, for which there is as much room at first as the last one took: messages
// of a flood are of one size. What is kept of a short message keeps no more memory than that.
func (w *WebSocket) readAll(r io.Reader) ([]byte, error) {
	msg := make([]byte, 0, max(w.room, leastRoom))
	for {
		n, err := r.Read(msg[len(msg):cap(msg)])
		msg = msg[:len(msg)+n]
		switch {
		case err == io.EOF:
			w.room = min(len(msg)+1, mostRoom) // with one byte more no read ends with a full buffer
			if len(msg) < cap(msg)/2 {
				msg = bytes.Clone(msg)
			}
			return msg, nil
		case err != nil:
			return nil, err
		case len(msg) == cap(msg):
			msg = slices.Grow(msg, len(msg))
		}
	}
}

// noticed sets heard whenever bytes come, since a pong cannot come before a large
// message on a slow line has ended.
type noticed struct {
	io.Reader
	heard *atomic.Bool
}

func (r noticed) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.heard.Store(true)
	}
	return n, err
}

// ended returns why nothing more comes.
func (w *WebSocket) ended(err error) error {
	w.mu.Lock()
	cause := w.cause
	w.mu.Unlock()
	var closed *websocket.CloseError
	switch {
	case cause != nil:
		return cause
	case w.closing.Load():
		return io.EOF
	case errors.Is(err, websocket.ErrReadLimit):
		err := errTooLong(w.max)
		w.end(websocket.CloseMessageTooBig, err) // unless gorilla has sent a close already
		return err
	case errors.As(err, &closed):
		switch closed.Code {
		case websocket.CloseNormalClosure, websocket.CloseGoingAway,
			websocket.CloseNoStatusReceived:
			if closed.Text == "" {
				return io.EOF
			}
		}
		return closed
	}
	return fmt.Errorf("the connection was lost: %w", err)
}

// Write sends p as one text frame.
func (w *WebSocket) Write(p []byte) error {
	if w.below == nil {
		return w.write(p)
	}
	frame, at := w.BeginFrame(make([]byte, 0, headOf64+len(p)))
	return w.WriteFrames(w.EndFrame(append(frame, p...), at))
}

// write has gorilla send p.
func (w *WebSocket) write(p []byte) error {
	w.writing.Store(true)
	defer w.writing.Store(false)
	if err := w.ws.WriteMessage(websocket.TextMessage, p); err != nil {
		if errors.Is(err, ErrStalled) {
			return ErrStalled
		}
		return fmt.Errorf("the connection was lost: %w", err)
	}
	return nil
}

// Close sends the reason to the peer and ends the transport. It may take closeWait.
func (w *WebSocket) Close(reason string) error {
	code := websocket.ClosePolicyViolation
	switch {
	case reason == Goodbye:
		code = websocket.CloseNormalClosure
	case reason == InternalError:
		code = websocket.CloseInternalServerErr
	case w.code != nil:
		code = w.code()
	}
	w.close(code, reason)
	return nil
}

// Finish waits up to closeWait for the peer's answer to the close frame, and closes
// the connection. Nobody may be in Read or call it again.
func (w *WebSocket) Finish() {
	w.close(websocket.CloseNormalClosure, "")
	w.ws.SetReadDeadline(time.Now().Add(closeWait))
	for {
		// Closing with unread bytes would reset the connection, and the peer might
		// never see the reason (RFC 9293 section 3.10.4).
		if _, _, err := w.ws.NextReader(); err != nil {
			break
		}
	}
	w.ws.Close()
}

// end closes the transport for a cause that Read returns, too.
func (w *WebSocket) end(code int, cause error) {
	w.mu.Lock()
	if w.cause == nil {
		w.cause = cause
	}
	w.mu.Unlock()
	w.close(code, cause.Error())
}

func (w *WebSocket) close(code int, reason string) {
	w.once.Do(func() {
		w.mu.Lock()
		w.timer.Stop()
		w.closing.Store(true)
		w.mu.Unlock()
		until := time.Now().Add(closeWait)
		frame := websocket.FormatCloseMessage(code, reason[:ahp.WholeRunes(reason, maxReason)])
		err := w.ws.WriteControl(websocket.CloseMessage, frame, until)
		if err != nil && !errors.Is(err, websocket.ErrCloseSent) {
			w.ws.Close() // the peer takes nothing, not even the reason
			return
		}
		w.ws.SetReadDeadline(until)
	})
}

// errSilent ends a connection whose peer sends nothing, not even an answer to pings.
var errSilent = errors.New("the peer did not answer a ping")

// beat runs by turns of two kinds: one sends a ping, and the next looks whether
// anything has come since. While a message is being written the peer is not expected
// to answer; [Stall] bounds that time.
func (w *WebSocket) beat() {
	w.mu.Lock()
	if w.closing.Load() {
		w.mu.Unlock()
		return
	}
	look := w.asked
	silent := look && !w.heard.Load() && !w.writing.Load()
	switch {
	case look:
		w.timer.Reset(ticks.Wait(pingInterval - pongWait))
	default:
		w.heard.Store(false)
		w.timer.Reset(ticks.Wait(pongWait))
	}
	w.asked = !look
	w.mu.Unlock()
	switch {
	case silent:
		w.end(websocket.ClosePolicyViolation, errSilent)
	case !look:
		w.ping()
	}
}

// ping asks the peer for a pong. If the ping cannot be sent, none is expected.
func (w *WebSocket) ping() {
	until := time.Now().Add(controlWait)
	if w.writing.Load() || w.ws.WriteControl(websocket.PingMessage, nil, until) != nil {
		w.heard.Store(true)
	}
}
