//go:build linux && !laptop

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"termhost/ahp/fleet"
	"termhost/ahp/fleet/roster"
	"termhost/cmd/termhost/config"
	"termhost/sshd/verbs/helptext"
)

const (
	// fleetListen is where the server of a new fleet listens: beside the HTTP door, on all
	// addresses, because it is there for other machines.
	fleetListen = ":7723"
	// joinTime bounds how long the fleet's home may take to answer.
	joinTime = 20 * time.Second
)

// fleetCommand makes a fleet, and joins hosts to it.
func fleetCommand(c *call) int {
	c.args = fileLast(c.args)
	if len(c.args) == 0 {
		return c.badUsage("say what to do with the fleet")
	}
	if isHelp(c.args[0]) {
		return c.printUsage()
	}
	run, ok := fleetRuns()[c.args[0]]
	if !ok {
		return c.badUsage(fmt.Sprintf("unexpected argument %q", c.args[0]))
	}
	c.args = c.args[1:]
	return run(c)
}

// fleetRuns returns what runs for the first operand.
func fleetRuns() map[string]func(*call) int {
	return map[string]func(*call) int{
		"init": fleetInit, "join": fleetJoin, "hosts": fleetHosts, "remove": fleetRemove,
		"token": fleetToken, "leave": fleetLeave,
	}
}

// fleetCommands returns what the first operand may be.
func fleetCommands() []string { return slices.Sorted(maps.Keys(fleetRuns())) }

// fileLast moves -c FILE from the head of the arguments to the end.
func fileLast(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	n := 0
	switch name, _, valued := strings.Cut(args[0], "="); {
	case name != "-c" && name != "--c":
	case valued:
		n = 1
	default:
		n = min(2, len(args))
	}
	return slices.Concat(args[n:], args[:n])
}

// fileFirst moves -c FILE to the head of the arguments, where a verb takes it.
func fileFirst(args []string) []string {
	for i := range args {
		switch name, file, valued := strings.Cut(args[i], "="); {
		case args[i] == "--":
			return args
		case name != "-c" && name != "--c":
		case valued:
			return slices.Concat([]string{"-c", file}, args[:i], args[i+1:])
		default:
			n := min(i+2, len(args))
			return slices.Concat(args[i:n], args[:i], args[n:])
		}
	}
	return args
}

// folder returns the folder of the fleet, and the configuration.
func (c *call) folder(file string) (roster.Folder, config.Config, error) {
	cfg, err := config.OfRunning(file)
	return roster.In(cfg.StateDir), cfg, err
}

// failed prints an error, and returns the exit code.
func (c *call) failed(err error) int { return fail(c.std, exitFailure, err.Error(), "") }

// fleetInit makes a fleet of which this host is the home, and prints how another one joins.
func fleetInit(c *call) int {
	fs := c.flags()
	file, name := fs.String("c", "", ""), fs.String("name", "", "")
	listen, at := fs.String("listen", fleetListen, ""), fs.String("at", "", "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	cfg, err := config.Load(*file)
	if err != nil {
		return failConfig(c.std, err)
	}
	folder := roster.In(cfg.StateDir)
	if code, ok := c.nameHost(name, cfg.Fleet.Name); !ok {
		return code
	}
	if err := folder.Outside(); err != nil { // its server may have the port
		return c.failed(err)
	}
	servers := cfg.Fleet.Servers
	if len(servers) == 0 {
		server, err := serverURL(*listen, *at)
		if err != nil {
			return fail(c.std, exitUsage, err.Error(), "")
		}
		servers = []string{server}
		if err := canListen(*listen); err != nil {
			return fail(c.std, exitFailure, err.Error(), "choose another port with --listen,"+
				" such as --listen :7733, or end what has it")
		}
	} else {
		*listen = ""
	}
	if err := folder.Found(*name, *listen, servers); err != nil {
		return c.failed(err)
	}
	fmt.Fprintf(c.std.out, "%s has made a fleet; a running host is in it within a second\n",
		*name)
	return c.printLine(folder, false)
}

// nameHost completes this host's name, which --name says, or the configuration, or the machine's
// name is. ok is false if it cannot be that, and code is the exit code then.
func (c *call) nameHost(name *string, configured string) (code int, ok bool) {
	if *name != "" && configured != "" && *name != configured {
		return fail(c.std, exitUsage, fmt.Sprintf("--name %s is not the [fleet] name of the "+
			"configuration, %s", *name, configured), "leave --name out, or change the other"), false
	}
	*name = cmp.Or(*name, configured, hostLabel())
	if err := fleet.CheckName(*name); err != nil {
		return fail(c.std, exitUsage, err.Error(), "choose another one with --name"), false
	}
	return exitOK, true
}

// canListen fails for an address at which a host could not listen.
func canListen(address string) error {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("the fleet's server cannot listen on %s: something else does", address)
	}
	if err != nil {
		return fmt.Errorf("the fleet's server cannot listen: %w", err)
	}
	return l.Close()
}

// hostLabel returns this machine's name as a host's name in a fleet; "": it has none that fits.
func hostLabel() string {
	name, _ := os.Hostname()
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	return strings.Map(func(r rune) rune {
		if r == '-' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, name)
}

// serverURL returns where other hosts find a server. at is host:port, or a host, or "".
func serverURL(listen, at string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("--listen %s: %w", listen, err)
	}
	if at == "" {
		if at = host; at == "" || net.ParseIP(at).IsUnspecified() {
			if at, err = os.Hostname(); err != nil {
				return "", fmt.Errorf("say with --at where others find this host: %w", err)
			}
		}
	}
	if _, _, err := net.SplitHostPort(at); err != nil {
		at = net.JoinHostPort(at, port)
	}
	return (&url.URL{Scheme: "tls", Host: at}).String(), nil
}

// printLine prints the line with which a host joins.
func (c *call) printLine(folder roster.Folder, door bool) int {
	m, err := folder.Inside()
	if err != nil {
		return c.failed(err)
	}
	secret, err := folder.NewToken(door)
	if err != nil {
		return c.failed(err)
	}
	what := "another host"
	if door {
		what = "another door"
	}
	fmt.Fprintf(c.std.out, "this makes %s join, once, within an hour; run it there:\n\n"+
		"  termhost fleet join %s %s\n", what, strings.Join(m.Servers, ","),
		fleet.Token(m, m.Name, secret))
	return exitOK
}

// fleetToken prints another line.
func fleetToken(c *call) int {
	fs := c.flags()
	file, door := fs.String("c", "", ""), fs.Bool("door", false, "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	folder, _, err := c.folder(*file)
	if err != nil {
		return c.failed(err)
	}
	return c.printLine(folder, *door)
}

// fleetJoin makes this host a member.
func fleetJoin(c *call) int {
	fs := c.flags()
	file, name := fs.String("c", "", ""), fs.String("name", "", "")
	if code, ok := c.parse(fs, 2); !ok {
		return code
	}
	if fs.NArg() != 2 {
		return c.badUsage("copy the whole line that `termhost fleet init` or `token` prints")
	}
	cfg, err := config.Load(*file)
	if err != nil {
		return failConfig(c.std, err)
	}
	folder := roster.In(cfg.StateDir)
	if code, ok := c.nameHost(name, cfg.Fleet.Name); !ok {
		return code
	}
	o := fleet.JoinOptions{Folder: folder, Servers: strings.Split(fs.Arg(0), ","),
		Token: fs.Arg(1), Name: *name, Log: slog.New(slog.DiscardHandler)}
	if len(cfg.Fleet.Servers) > 0 {
		o.External, o.Servers = true, cfg.Fleet.Servers
		o.CredentialsFile, o.CAFile = cfg.Fleet.Credentials, cfg.Fleet.TLSCAFile
	}
	ctx, cancel := context.WithTimeout(context.Background(), joinTime)
	defer cancel()
	err = fleet.Join(ctx, o)
	var denied *fleet.CredentialsError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, fleet.ErrNoAnswer):
		return fail(c.std, exitFailure, "the fleet does not answer at "+fs.Arg(0),
			"is `termhost serve` running there, the address right, and the line of this hour?")
	case errors.As(err, &denied):
		return fail(c.std, exitFailure, err.Error(), "give the name that they are for with"+
			" --name, or set [fleet] credentials to those of "+*name)
	case errors.As(err, new(*roster.FormatError)):
		return fail(c.std, exitFailure, err.Error(), "this host has termhost "+version())
	case err != nil:
		return c.failed(err)
	}
	fmt.Fprintf(c.std.out, "%s has joined; a running host is in the fleet within a second\n",
		*name)
	return exitOK
}

// fleetHosts has the host that runs list the hosts.
func fleetHosts(c *call) int {
	all := verbTable()
	i := slices.IndexFunc(all, func(v helptext.Verb) bool { return v.Name == "hosts" })
	c.args = fileFirst(c.args)
	return c.runVerb(all[i])
}

// fleetRemove removes a host.
func fleetRemove(c *call) int {
	fs := c.flags()
	file := fs.String("c", "", "")
	if code, ok := c.parse(fs, 1); !ok {
		return code
	}
	if fs.NArg() == 0 {
		return c.badUsage("name the host to remove")
	}
	folder, _, err := c.folder(*file)
	if err != nil {
		return c.failed(err)
	}
	name := fs.Arg(0)
	if _, err = folder.Change(func(r roster.Roster) (roster.Roster, error) {
		return r.Without(name)
	}); err != nil {
		return c.failed(err)
	}
	fmt.Fprintf(c.std.out, "%s is removed; what it has open elsewhere ends within two seconds\n",
		name)
	return exitOK
}
