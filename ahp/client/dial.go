package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"termhost/ahp/transport"
)

// Dialer makes a new transport. It is called for the first connection and for each
// one after a loss. An error that matches [ErrRefused] ends the client; after any
// other it tries again later.
type Dialer func(ctx context.Context) (transport.Transport, error)

// ErrRefused says that the host refuses this client, and would again.
var ErrRefused = errors.New("client: refused by the host")

// HandshakeError is the host's answer to a WebSocket handshake that failed. It
// matches ErrRefused where the credentials or the request were wrong.
type HandshakeError struct {
	Status int
	Reason string // the host's own words, at most maxReasonBytes
}

// maxReasonBytes is how much of a refusal's text is kept.
const maxReasonBytes = 512

func (e *HandshakeError) Error() string {
	return fmt.Sprintf("client: the host answered %d: %s", e.Status, e.Reason)
}

// Is reports whether trying again is of no use.
func (e *HandshakeError) Is(target error) bool {
	return target == ErrRefused && e.Status >= 400 && e.Status < 500 &&
		e.Status != http.StatusRequestTimeout && e.Status != http.StatusTooManyRequests
}

// MaxMessageBytes bounds a message from the host, in bytes: a snapshot of 32 MiB of
// output in which every byte needs an escape still fits.
const MaxMessageBytes = 256 << 20

// handshakeTimeout bounds a WebSocket's handshake.
const handshakeTimeout = 20 * time.Second

// writeBuffer is the size, in bytes, of the buffers in which frames are masked. A longer message
// goes as several frames, each with a system call. 32 KiB of output fit.
const writeBuffer = 48 << 10

// WebSocketOptions say how to reach a host over WebSocket.
type WebSocketOptions struct {
	// Token is sent as Authorization: Bearer; "": none.
	Token string
	// Header has further headers to send.
	Header http.Header
	// TLS is for wss; nil: the system's roots.
	TLS *tls.Config
	// Socket, if not empty, is the unix socket to connect to instead of the
	// URL's host.
	Socket string
}

// WebSocket returns a Dialer for a ws or wss URL.
func WebSocket(url string, o WebSocketOptions) Dialer {
	header := o.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if o.Token != "" {
		header.Set("Authorization", "Bearer "+o.Token)
	}
	var nd net.Dialer
	d := &websocket.Dialer{
		Proxy:            http.ProxyFromEnvironment,
		HandshakeTimeout: handshakeTimeout,
		TLSClientConfig:  o.TLS,
		WriteBufferSize:  writeBuffer,
		WriteBufferPool:  new(sync.Pool),
		NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if o.Socket != "" {
				network, addr = "unix", o.Socket
			}
			c, err := nd.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return transport.NewProgress(c, 0), nil
		},
	}
	if o.Socket != "" {
		d.Proxy = nil
	}
	return func(ctx context.Context) (transport.Transport, error) {
		ws, resp, err := d.DialContext(ctx, url, header)
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			// resp.Body has the beginning of the body only: gorilla has read it.
			text, _ := io.ReadAll(io.LimitReader(resp.Body, maxReasonBytes))
			resp.Body.Close()
			return nil, &HandshakeError{Status: resp.StatusCode, Reason: firstLine(text)}
		}
		if err != nil {
			return nil, fmt.Errorf("client: cannot connect: %w", err)
		}
		return transport.NewWebSocket(ws, MaxMessageBytes, nil, nil), nil
	}
}

// firstLine returns the first line of a text without control characters.
func firstLine(text []byte) string {
	for i, b := range text {
		if b < ' ' || b == 0x7f {
			return string(text[:i])
		}
	}
	return string(text)
}

// Lines returns a Dialer for a stream of one message per line, such as the
// standard streams of ssh -s ahp, which open makes anew for every connection.
func Lines(open func(ctx context.Context) (io.ReadWriteCloser, error)) Dialer {
	return func(ctx context.Context) (transport.Transport, error) {
		rw, err := open(ctx)
		if err != nil {
			return nil, err
		}
		leave := func(string) error { return rw.Close() }
		return transport.NewLines(rw, rw, MaxMessageBytes, leave), nil
	}
}
