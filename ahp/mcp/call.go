package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"termhost/ahp"
	"termhost/ahp/history"
	"termhost/ahp/host"
	"termhost/ahp/spelling"
	"termhost/ahp/visible"
)

// settled is the silence after which input counts as handled.
const settled = 300 * time.Millisecond

// call is one call of a tool.
type call struct {
	ctx     context.Context // ends with the call
	asked   context.Context // the request's
	session *session
	conn    *host.Conn
	client  *client
	args    Arguments
	limit   int64 // the longest wait, in seconds
	clamped bool  // a longer one was asked for

	terminal atomic.Pointer[host.Terminal] // what it is about; nil: not known yet
	from     atomic.Int64                  // where it began in the terminal's output
	what     string                        // what it runs or types; "": nothing
	typedIt  bool                          // the terminal has taken all that the call types
	waits    bool                          // some of that waited until the program reads
	status   *int                          // of what was typed into a shell; nil: unknown
	rests    bool                          // the wait ended because what runs is at rest
	// fullScreen: what runs draws on the whole screen.
	fullScreen bool
	facts      map[string]any
	hints      []string // sentences behind the output
	answered   func()   // records what the result has of the output; nil: it has none
}

// about records which terminal the call is about.
func (c *call) about(t *host.Terminal, from int64) {
	c.from.Store(from)
	c.terminal.Store(t)
}

func (c *call) hint(format string, args ...any) {
	c.hints = append(c.hints, fmt.Sprintf(format, args...))
}

// handler answers the calls of a tool. What is wrong with them is told as a result, which reaches
// the model.
func (s *Server) handler(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := &call{ctx: ctx, asked: ctx, facts: map[string]any{}}
		c.session, _ = ctx.Value(sessionKey{}).(*session)
		if c.session == nil {
			return nil, errNoSession
		}
		name, token := nameOfClient(r), r.Params.GetProgressToken()
		c.limit = s.limit(name, token != nil)
		if token != nil {
			done := make(chan struct{})
			defer close(done)
			go s.guard("progress", func() { c.progress(ctx, r.Session, token, done) })
		}
		text, err := c.do(t, name, r.Params.Arguments)
		result := &sdk.CallToolResult{Meta: sdk.Meta{"termhost/result": c.facts}}
		if c.conn != nil {
			result.Meta[MetaNumber] = c.conn.MCPNumber()
		}
		if err != nil {
			result.IsError, text = true, "error: "+reason(err)+"\n"
			if c.conn != nil && c.conn.Context().Err() != nil {
				result.Meta[MetaEnded] = true
			}
			if c.typedIt {
				c.hint("What you sent was typed before that.")
			}
		}
		c.hintWaits()
		for _, hint := range append(c.hints, c.reminders()...) {
			text += hint + "\n"
		}
		result.Content = []sdk.Content{&sdk.TextContent{Text: cleaned(text)}}
		return result, nil
	}
}

func (c *call) do(t *tool, name string, raw []byte) (text string, err error) {
	if c.conn, c.client, err = c.session.connect(name); err != nil {
		return "", err
	}
	if c.args, err = ParseArguments(raw); err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.conn.Context(), func() {
		cancel(context.Cause(c.conn.Context()))
	})()
	c.ctx = ctx
	text, err = t.do(c)
	if term := c.terminal.Load(); c.asked.Err() != nil || c.conn.Context().Err() != nil {
		if term != nil {
			c.client.lose(term, strings.TrimSpace(t.name+" "+c.what))
		}
		c.answered = nil
		switch {
		case err == nil:
		case errors.Is(err, context.Canceled):
			err = errors.New("the call was cancelled; what runs goes on")
		default:
			err = fmt.Errorf("%w; what runs goes on", err)
		}
	}
	if c.answered != nil && err == nil {
		c.answered()
	}
	return text, err
}

// reminders tell of what people have decided since the last result, and of calls whose answer was
// lost and that no result has told of.
func (c *call) reminders() (list []string) {
	if c.client == nil || c.asked.Err() != nil {
		return nil
	}
	for _, d := range c.client.decided() {
		list = append(list, d.text())
	}
	for _, l := range c.client.untold() {
		list = append(list, fmt.Sprintf("The answer to your %s did not reach you: %s", l.what,
			callText("terminal_read", "terminal", l.terminal)))
	}
	return list
}

// find returns the terminal that an argument names.
func (c *call) find() (*host.Terminal, error) {
	name, err := c.args.Required("terminal", `"t7"`)
	if err != nil {
		return nil, err
	}
	if on, own, both := strings.Cut(name, "/"); both && on != "" && on == c.conn.FleetName() {
		name = own
	}
	t, err := c.conn.Find(name)
	if missing := (*host.NotFoundError)(nil); errors.As(err, &missing) {
		return nil, c.unknown(name)
	}
	if err != nil {
		return nil, err
	}
	c.about(t, c.client.cursor(t))
	return t, nil
}

// unknown refuses a NAME, and tells the nearest ones.
func (c *call) unknown(name string) error {
	list, err := c.conn.Terminals()
	if err != nil {
		return err
	}
	name = visible.Clean(name[:min(len(name), 2*ahp.MaxName)])
	var names []string
	far := map[string]int{}
	for _, t := range list {
		names = append(names, t.Name())
		far[t.Name()] = spelling.Distance(name, t.Name())
	}
	elsewhere := ""
	if on := c.conn.FleetName(); on != "" {
		elsewhere = fmt.Sprintf(". These are the terminals of %s: those of another host BOX need "+
			"an MCP connection of their own, as by `ssh -J HOST BOX mcp`", on)
	}
	const most = 5
	slices.SortStableFunc(names, func(a, b string) int { return far[a] - far[b] })
	switch names = names[:min(len(names), most)]; len(names) {
	case 0:
		return fmt.Errorf("there is no terminal %q, nor any other; %s opens one%s", name,
			callText("terminal_open"), elsewhere)
	default:
		nearest := "the nearest name is "
		if len(names) > 1 {
			nearest = "the nearest names are "
		}
		return fmt.Errorf("there is no terminal %q; %s%s; %s lists all%s", name, nearest,
			strings.Join(names, ", "), callText("terminal_list", "all", true), elsewhere)
	}
}

// wait returns how long the call may wait: as its arguments say, at most its client's limit.
func (c *call) wait(otherwise int64) (time.Duration, error) {
	s, err := c.args.Integer("wait_s", otherwise)
	if err != nil {
		return 0, err
	}
	c.clamped = s > c.limit
	return time.Duration(min(max(s, 0), c.limit)) * time.Second, nil
}

// errDecided ends a wait because a person has decided about what waits for one.
var errDecided = errors.New("mcp: decided")

// await ends a wait, also when d is decided; nil: nothing is.
func (c *call) await(p *host.PendingWait, d *decision) (host.Waited, error) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	if d != nil {
		go func() {
			select {
			case <-d.done:
				cancel(errDecided)
			case <-ctx.Done():
			}
		}()
	}
	how, err := p.End(ctx)
	if errors.Is(err, errDecided) {
		err = nil
	}
	return how, err
}

// position returns where the output of a terminal ends.
func (c *call) position(t *host.Terminal) (int64, error) {
	e, err := c.lines(t, endOfOutput, func(*history.TextLine) bool { return true })
	return e.End, err
}

// endOfOutput is behind all that a terminal prints.
const endOfOutput = 1 << 62

// lines calls visit with the lines of a terminal from a cursor on.
func (c *call) lines(t *host.Terminal, from int64, visit func(*history.TextLine) bool) (
	history.Extent, error,
) {
	return c.linesWith(t, from, func(_ *host.Work, l *history.TextLine) bool { return visit(l) })
}

// linesWith is lines for a visit that takes long, in pieces of the work.
func (c *call) linesWith(
	t *host.Terminal, from int64, visit func(*host.Work, *history.TextLine) bool,
) (history.Extent, error) {
	release, err := c.conn.WaitReading(c.ctx)
	if err != nil {
		return history.Extent{}, err
	}
	defer release()
	work := c.conn.Work(c.ctx)
	defer work.Rest()
	return c.conn.History(work, host.Source{Terminal: t}).TextLines(work, from,
		func(l *history.TextLine) bool { return visit(work, l) })
}

// chars returns how many characters of output the result may have.
func (c *call) chars() (int, error) {
	chars, err := c.args.Integer("max_chars", defaultChars)
	return int(min(max(chars, fewestChars), mostChars)), err
}

// result returns the header and what a terminal has printed from a cursor on.
func (c *call) result(t *host.Terminal, from int64, onwards bool) (string, error) {
	chars, err := c.chars()
	if err != nil {
		return "", err
	}
	o := output{terminal: t.Name(), chars: chars, onwards: onwards}
	return c.print(t, from, &o, func(l *history.TextLine) bool {
		o.add(l)
		return true
	})
}

// print is result for lines that visit adds to o.
func (c *call) print(t *host.Terminal, from int64, o *output, visit func(*history.TextLine) bool) (
	string, error,
) {
	e, err := c.lines(t, from, visit)
	if err != nil {
		return "", err
	}
	next := o.next(e.Next)
	c.answered = func() { c.client.read(t, next) }
	if from < e.Oldest && from > 0 {
		c.hint("What was printed before cursor %d is no longer kept.", e.Oldest)
	}
	if t.Info(c.conn.Principal()).Waiting != host.WaitingNone {
		c.client.prompted(t, e.End)
	}
	if c.fullScreen = e.Alternate; e.Alternate {
		c.hint("The program draws on the whole screen: %s shows it.",
			callText("terminal_read", "terminal", t.Name(), "view", "screen"))
	}
	return c.header(t, o, next) + "\n" + o.text(), nil
}

// header returns the first line of a result, and adds the next step to the hints.
func (c *call) header(t *host.Terminal, o *output, cursor int64) string {
	info := t.Info(c.conn.Principal())
	state, took := c.state(t, &info, o.unfinished)
	if c.rests && state == Running && !c.fullScreen {
		state = WaitingForInput(o.unfinished)
	}
	if c.status != nil {
		state = Exited(*c.status, "")
		if last := info.LastCommand; last != nil && last.DurationMs != nil {
			took = time.Duration(*last.DurationMs) * time.Millisecond
		}
	} else {
		c.next(t, state)
	}
	if c.clamped && state == Running {
		state += fmt.Sprintf(" (wait_s is at most %d)", c.limit)
	}
	c.facts["terminal"], c.facts["state"], c.facts["cursor"] = t.Name(), state, cursor
	c.facts["lines"], c.facts["uri"] = o.lines, t.URI()
	return Header{Name: t.Name(), State: state, Time: took, Lines: o.lines, Cursor: cursor}.String()
}

// state returns a terminal's state and for how long it has been running, or ran.
func (c *call) state(t *host.Terminal, info *host.Info, prompt string) (string, time.Duration) {
	state, took := c.program(t, info, prompt)
	if _, exited := t.Exit(); !exited && state != Gone && c.elsewhere(t, info) &&
		info.Waiting != host.WaitingApproval {
		state = HeldBy(info.Holder, info.HeldSince)
	}
	return state, took
}

// program is state without regard to who has the keyboard.
func (c *call) program(t *host.Terminal, info *host.Info, prompt string) (string, time.Duration) {
	running := time.Since(info.CreatedAt)
	select {
	case <-t.Gone():
		return Gone, running
	default:
	}
	if status, exited := t.Exit(); exited {
		signal := ""
		if status.Signal != 0 {
			signal = signalName(status.Signal)
		}
		c.facts["exitCode"] = status.Code
		return Exited(status.Code, signal), t.ExitedAt().Sub(info.CreatedAt)
	}
	d := c.client.pending(t)
	switch undecided := d != nil && !d.decided(); {
	case info.Waiting == host.WaitingSecret:
		return WaitingForSecret, running
	case undecided, info.Waiting == host.WaitingApproval:
		return WaitingForApproval, running
	case info.Stopped:
		return host.StoppedText(info.StoppedBy), running
	case info.Waiting == host.WaitingInput:
		return WaitingForInput(prompt), running
	}
	return Running, running
}

// elsewhere reports whether somebody else has the keyboard, so that the client may not type.
func (c *call) elsewhere(t *host.Terminal, info *host.Info) bool {
	return info.Executor == ahp.ExecutorServer && info.HeldBy != c.conn.Principal().ID &&
		!c.conn.MayType(t)
}

// next adds the next step in a state to the hints.
func (c *call) next(t *host.Terminal, state string) {
	name := t.Name()
	again := callText("terminal_read", "terminal", name, "wait_s", c.limit)
	switch {
	case state == WaitingForSecret && !c.conn.Principal().TypesSecrets:
		c.hint("A person must type it: ssh -t HOST attach %s; then %s", name, again)
	case strings.HasPrefix(state, host.StoppedText("")):
		c.hint("It shows nothing, and what is typed waits, until somebody presses Ctrl-Q: %s",
			callText("terminal_send", "terminal", name, "keys", []string{"ctrl-q"}))
	case state == WaitingForApproval:
		c.hint("A person must say yes first. To wait for it: %s", again)
	case strings.HasPrefix(state, heldBy) && c.typedIt:
		c.hint("What you sent was typed. Somebody else has the keyboard now, and more is refused "+
			"until it is handed back. To wait: %s", again)
	case strings.HasPrefix(state, heldBy):
		c.hint("Somebody else has the keyboard: what you send is refused until it is handed "+
			"back. To wait: %s", again)
	case strings.HasPrefix(state, waitingForInput), state == WaitingForSecret:
		c.hint("To answer: %s", callText("terminal_send", "terminal", name, "text", "..."))
	case state == Running && c.what != "" && !t.AtRest():
		c.hint("It goes on. To wait for more: %s", again)
	}
}

// reason returns an error's text for a model. Errors may quote what the client has sent.
func reason(err error) string {
	const most = 1000 // bytes
	text := err.Error()
	if len(text) > most {
		text = text[:most] + "..."
	}
	for _, prefix := range []string{"ptypool: ", "keys: ", "authz: ", "host: ", "history: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return visible.Clean(text)
}

// signalName returns a signal's name, such as "SIGKILL".
func signalName(s syscall.Signal) string { return unix.SignalName(s) }
