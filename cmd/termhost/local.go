//go:build linux && !laptop

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termhost/ahp/client"
	"termhost/ahp/journal"
	"termhost/cmd/termhost/acpproxy"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/local"
	"termhost/ptypool/keeper"
)

// localWay returns the way through the unix socket of a host on this machine, which runs with a
// configuration file; "": without one.
func localWay(file string) (hostWay, error) {
	cfg, err := config.Load(file)
	if err != nil {
		return hostWay{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return hostWay{}, fmt.Errorf("cannot tell which program this is: %w", err)
	}
	attach := []string{self, "attach", "-r"}
	if file != "" {
		if file, err = filepath.Abs(file); err != nil {
			return hostWay{}, fmt.Errorf("cannot tell where the configuration is: %w", err)
		}
		attach = append(attach, "-c", file)
	}
	socket := client.WebSocketOptions{Socket: cfg.SocketPath()}
	return hostWay{
		dial:      client.WebSocket("ws://localhost"+cfg.HTTP.Path, socket),
		attach:    func(uri string) []string { return append(slices.Clip(attach), uri) },
		local:     true,
		keepalive: acpproxy.Keepalive,
		away:      acpproxy.Away,
	}, nil
}

// attachHere returns the way to the terminals of a host on this machine, which runs with a
// configuration file; "": none was named.
func attachHere(file string) (*attachWay, error) {
	cfg, err := config.OfRunning(file)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context) (*local.Client, error) {
		return local.DialContext(ctx, cfg.SocketPath())
	}
	return &attachWay{byte(cfg.Terminal.DetachPrefix), dial, hintLocal}, nil
}

// openLocal opens the page of a host on this machine, which listens for browsers itself.
func (a pageArgs) openLocal(std stdio) int {
	cfg, err := config.Load(a.file)
	if err != nil {
		return fail(std, exitUsage, err.Error(), "")
	}
	client, err := local.Dial(cfg.SocketPath())
	if err != nil {
		return fail(std, exitFailure, err.Error(), hintLocal)
	}
	defer client.Close()
	var url, told bytes.Buffer
	status, err := client.Run(local.Command{Line: a.verb(), Out: &url, Err: &told})
	switch {
	case err != nil:
		return fail(std, exitFailure, err.Error(), "")
	case status != exitOK:
		_, _ = std.err.Write(told.Bytes())
		return status
	}
	show(std, strings.TrimSpace(url.String()))
	return exitOK
}

// localDial returns what connects to the MCP of a host on this machine, through its unix socket.
func (a mcpArgs) localDial(said io.Writer) (
	func(context.Context) (io.ReadWriteCloser, error), error,
) {
	cfg, err := config.OfRunning(a.file)
	if err != nil {
		return nil, err
	}
	return func(context.Context) (io.ReadWriteCloser, error) {
		client, err := local.Dial(cfg.SocketPath())
		if err != nil {
			return nil, err
		}
		dir, err := os.Getwd()
		if err != nil { // it is gone
			dir = ""
		}
		return client.Open(a.line(dir), said)
	}, nil
}

// formats returns the formats of what hosts keep.
func formats() hostFormats {
	return hostFormats{StateFormat: journal.Format, KeeperProtocol: keeper.Protocol,
		KeeperOldest: keeper.Oldest}
}
