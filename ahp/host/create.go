package host

import (
	"path/filepath"
	"strings"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool"
)

// Create makes a terminal for the connection's principal and returns once its program runs. If that
// is an agent whose program needs a person's yes, Create waits for it, unless o says otherwise, and
// fails with a [*NotStartedError] without it. Other errors are [*EndedError], *authz.Denied,
// [*ClaimError], [*ExistsError], [*NameError], [*DirError], *admit.QuotaError, *ptypool.LimitError,
// *ptypool.StartError, and [ErrClosed] while the host shuts down.
func (c *Conn) Create(o CreateOptions) (made Created, err error) {
	if err := c.Ended(); err != nil {
		return Created{}, err
	}
	made.Terminal, made.Streams, err = c.start(o)
	if err != nil {
		return Created{}, err
	}
	t := made.Terminal
	if made.Starting = t.approvals.starting; made.Starting != nil && !o.Later {
		if o.Held != nil {
			o.Held(made.Starting)
		}
		if err := made.Starting.Wait(c.ctx); err != nil {
			if made.Streams != nil {
				made.Streams.stop()
			}
			return Created{}, err
		}
	}
	if made.Streams != nil {
		made.Streams.join(t)
	}
	if o.Attach != nil {
		made.Attach, made.First, err = c.Attach(t, *o.Attach)
	}
	c.host.open(t)
	if err != nil {
		c.host.remove(t, "")
		return Created{}, err
	}
	return made, nil
}

// start makes a terminal and starts its process, unless a person has to agree first. Its output is
// not read before open is called.
func (c *Conn) start(o CreateOptions) (t *Terminal, s *Streams, err error) {
	h, p := c.host, c.principal
	o.conn = c
	owner, err := c.complete(&o)
	if err != nil {
		return nil, nil, err
	}
	t = &Terminal{
		host: h, tap: o.Tap, tag: o.Tag, renamed: o.KeepTitle,
		origin: origin{created: h.now(), creator: p, createdBy: c.Name(), forced: o.Forced,
			program: o.program()},
	}
	t.begin()
	t.life.transient, t.origin.recorded, t.keyboard.holder = o.Transient, o.Record, owner
	if owner.agent != "" {
		t.origin.createdBy = owner.name
	}
	if len(o.Argv) > 0 || o.Line != "" {
		t.commands.typist.last = t.origin.createdBy // of what the program begins by itself
	}
	switch {
	case o.Client != nil:
		t.exec = &clientExecutor{client: c.client, cwd: o.Client.Cwd, stream: o.Client.Stream,
			grace: min(o.Client.Grace, h.cfg().ClientGrace)}
	case o.Exact:
		s = c.newExactStreams()
		t.exec = &exactExecutor{streams: s}
	case o.Piped:
		s = c.newStreams()
		t.exec = &pipesExecutor{streams: s, detached: o.Detached}
	default:
		t.exec = &serverExecutor{}
	}
	if err := t.exec.start(t, o); err != nil {
		if s != nil {
			s.stop()
		}
		return nil, nil, err
	}
	h.log.Info("terminal created", "name", t.Name(), "principal", p.Name)
	return t, s, nil
}

// complete checks the options, fills in defaults, and returns the terminal's first holder.
func (c *Conn) complete(o *CreateOptions) (owner holder, err error) {
	h := c.host
	if owner, err = c.claim(o); err != nil {
		return owner, err
	}
	if err := authz.Check(c.principal, authz.Create, authz.Target{Forced: o.Forced}); err != nil {
		return owner, err
	}
	if o.URI == "" && o.Name != "" && !ahp.ValidName(o.Name) {
		return owner, &NameError{o.Name}
	}
	if o.Dir == "~" || strings.HasPrefix(o.Dir, "~/") {
		o.Dir = filepath.Join(h.homeDir(), o.Dir[1:])
	}
	if o.Dir != "" && !filepath.IsAbs(o.Dir) {
		o.Dir = filepath.Join(h.homeDir(), o.Dir)
	}
	if err := checkDir(o.Dir); err != nil {
		return owner, err
	}
	if o.Cols == 0 || o.Rows == 0 {
		o.Cols, o.Rows = DefaultCols, DefaultRows
	}
	o.Pixels = o.Pixels.In(o.Cols, o.Rows)
	o.Cols, o.Rows = ptypool.ClampSize(o.Cols, o.Rows)
	return owner, nil
}

// claim checks who is to hold a new terminal, and returns it: the client that makes it, or a
// session. A client-executed terminal is its owner's.
func (c *Conn) claim(o *CreateOptions) (holder, error) {
	own := ""
	if c.client != nil {
		own = c.client.id
	} else {
		own = c.host.sshClient(c.principal)
		if o.Claim.Kind == "" {
			o.Claim = ahp.ClientClaim(own)
		}
	}
	mine := o.Claim.Kind == ahp.ClaimClient && o.Claim.ClientID == own
	switch {
	case o.Client != nil && !mine:
		return holder{}, &ClaimError{Executes: true, Reason: "a client-executed terminal is held " +
			"by the client that runs it: the claim must name your own clientId"}
	case !validClaim(o.Claim):
		return holder{}, &ClaimError{
			Reason: "must name a clientId or a session of at most 256 bytes"}
	case o.Claim.Kind == ahp.ClaimClient && !mine:
		return holder{}, &ClaimError{Reason: "must name your own clientId"}
	}
	owner, _ := c.host.holderOf(o.Claim, c.principal, c.Name())
	if o.Agent != "" {
		owner.agent = label(o.Agent)
		owner.name = agentName(c.principal, o.Agent)
	}
	return owner, nil
}

// open has the output of a terminal read that start has made.
func (h *Host) open(t *Terminal) {
	close(t.life.started)
	t.term.Lock()
	defer t.term.Unlock()
	t.waiting.active()
	t.waiting.output()
}
