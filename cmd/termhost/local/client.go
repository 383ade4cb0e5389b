package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	gossh "golang.org/x/crypto/ssh"
)

// Client is an SSH connection to a host on this machine. Its methods must not be called
// concurrently, but for Close.
type Client struct {
	ssh   *gossh.Client
	taken *taken
}

// Dial connects to the host whose unix socket is at path. Neither side uses a key: the client
// trusts the folder of the socket, and the host the user id of its peer.
func Dial(path string) (*Client, error) { return DialContext(context.Background(), path) }

// DialContext is Dial; it fails when ctx ends.
func DialContext(ctx context.Context, path string) (*Client, error) {
	nc, err := net.Dial("unix", path)
	if err != nil {
		return nil, fmt.Errorf("cannot reach a host at %s: %w",
			path, errors.Unwrap(errors.Unwrap(err)))
	}
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	upgraded, err := upgrade(nc, path)
	if err != nil {
		nc.Close()
		return nil, err
	}
	c, err := newClient(upgraded, path)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("the host refuses: %w", err)
	}
	return c, nil
}

// newClient speaks SSH with a host that knows its peer.
func newClient(nc net.Conn, name string) (*Client, error) {
	c, chans, reqs, err := gossh.NewClientConn(nc, name, &gossh.ClientConfig{
		User: "socket", HostKeyCallback: gossh.InsecureIgnoreHostKey(),
	})
	if err != nil {
		return nil, err
	}
	t := newTaken()
	return &Client{gossh.NewClient(c, chans, t.watch(reqs)), t}, nil
}

// SSH returns the connection itself.
func (c *Client) SSH() *gossh.Client { return c.ssh }

// Close ends the connection.
func (c *Client) Close() error { return c.ssh.Close() }

// Output runs a command line that reads no input, and returns its output. If its status is not 0,
// that is an error.
func (c *Client) Output(line string) ([]byte, error) {
	s, err := c.ssh.NewSession()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return s.Output(line)
}

// upgrade asks the HTTP server at path to speak SSH on the connection.
func upgrade(nc net.Conn, path string) (net.Conn, error) {
	req, err := http.NewRequest(http.MethodGet, "http://localhost/ssh", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "ssh")
	if err := req.Write(nc); err != nil {
		return nil, fmt.Errorf("the host at %s does not listen: %w", path, err)
	}
	r := bufio.NewReader(nc)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, fmt.Errorf("the host at %s does not answer: %w", path, err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		reason, _ := io.ReadAll(io.LimitReader(resp.Body, 256))
		return nil, fmt.Errorf("the host refuses: %s", strings.TrimSpace(string(reason)))
	}
	return &bufferedConn{Conn: nc, r: r}, nil
}

// bufferedConn is a connection whose first bytes may already be in a buffer.
type bufferedConn struct {
	net.Conn
	r *bufio.Reader
}

func (c *bufferedConn) Read(p []byte) (int, error) { return c.r.Read(p) }
