package rpc

import "termhost/ahp/transport"

// frames are messages that are put together to be sent in one piece.
type frames struct {
	to  transport.Framer
	buf []byte
	// from and at are where the last message's frame and its content begin.
	from, at int
}

// begin begins a message, which is appended to buf.
func (f *frames) begin() {
	f.from = len(f.buf)
	f.buf, f.at = f.to.BeginFrame(f.buf)
}

// end ends the message. An empty one is not sent.
func (f *frames) end() {
	if len(f.buf) == f.at {
		f.buf = f.buf[:f.from]
		return
	}
	f.buf = f.to.EndFrame(f.buf, f.at)
}

// flush sends the messages.
func (f *frames) flush() error {
	if len(f.buf) == 0 {
		return nil
	}
	err := f.to.WriteFrames(f.buf)
	f.buf = f.buf[:0]
	return err
}
