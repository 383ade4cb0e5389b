package acp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"termhost/ahp/client"
)

// Stream is one side of a Proxy: messages, one per line.
type Stream struct {
	In  io.Reader
	Out io.WriteCloser
}

// ProxyConfig is what a Proxy is made from.
type ProxyConfig struct {
	Editor, Agent Stream
	// AgentName is what the agent is called until it tells its own name.
	AgentName string
	// Dir is where a command starts if neither the agent nor its session names a
	// directory; "": the host's choice.
	Dir string
	// Env, "NAME=value" each, is set for every command, unless the agent sets it.
	Env []string
	// Attach returns the command that shows the terminal of a URI, read-only, on the
	// editor's machine.
	Attach func(uri string) []string
	// Note tells the user something, in one line. It may be called concurrently.
	Note func(string)
}

// Proxy carries ACP between an editor and an agent. It passes every message on
// as it is and in its order, except that
//
//   - initialize tells the agent that there are client terminals;
//   - terminal requests of the agent are answered by the host;
//   - terminals of the host that are embedded in tool calls become terminals of the
//     editor's, or text if it has none;
//   - answers to the requests that the latter takes are not the agent's to see.
//
// What it does not understand it passes on. With a later version of ACP than 1 it
// changes nothing: those have no client terminals.
//
// The two directions are read by a goroutine each, which write to the other side
// only. Everything else has goroutines of its own, so that neither side's reading
// ever waits for its own writing; but the agent is read no further while too many
// of its requests are under way. Lock order: the editor's outlet's, viewMu, mu.
// Whoever changes what the editor sees holds the first from the change until it is
// written, so that it sees changes in their order.
type Proxy struct {
	cfg    ProxyConfig
	editor outlet
	agent  outlet
	host   *client.Client
	ctx    context.Context // ends with the agent
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // everything but the two readers
	queue  chan *request  // of the agent, for the host

	underway chan func()   // what answers those that the host is asked, in their order
	waits    atomic.Int32  // those that are answered when their time comes
	starts   chan struct{} // holds one for each view that the editor is starting

	mode       atomic.Int32  // what is done with messages: active, undecided, transparent
	editorGone chan struct{} // closed when the editor's stream has ended
	goneOnce   sync.Once
	idPrefix   string // begins the ids of the proxy's own requests
	editorWait time.Duration
	answerWait time.Duration

	mu              sync.Mutex // leaf
	agentName       string
	editorTerminals bool                               // the editor has terminals
	initializing    string                             // the id of the editor's initialize
	starting        map[string]string                  // working directories, by the id of the request that begins a session
	sessions        map[string]string                  // working directories, by session
	terminals       map[string]*remote                 // by id
	forgotten       []*remote                          // released ones that are still in terminals, oldest first
	answering       map[string]context.CancelCauseFunc // the agent's requests, by id
	asked           map[string]*question               // the proxy's own requests to the editor, by id
	lastID          int
	lost            error                   // why there is no connection to the host; nil: there is
	link            context.Context         // ends with the connection to the host, or while there is none with the next one
	unlink          context.CancelCauseFunc // ends link

	viewMu sync.Mutex // guards what the editor sees of terminals; never held while something is written
	calls  map[callKey]*toolCall
}

// NewProxy returns a Proxy that does not run yet.
func NewProxy(cfg ProxyConfig) *Proxy {
	p := &Proxy{cfg: cfg, editor: outlet{w: cfg.Editor.Out}, agent: outlet{w: cfg.Agent.Out}, agentName: cfg.AgentName,
		queue: make(chan *request, maxQueue), editorGone: make(chan struct{}), idPrefix: "termhost-" + rand.Text()[:8] + "-", editorWait: editorWait,
		answerWait: answerWait, underway: make(chan func(), maxUnderway), starts: make(chan struct{}, maxStarting),
		starting: map[string]string{}, sessions: map[string]string{}, terminals: map[string]*remote{},
		answering: map[string]context.CancelCauseFunc{}, asked: map[string]*question{}, calls: map[callKey]*toolCall{}}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	p.link, p.unlink = context.WithCancelCause(p.ctx)
	return p
}

// EditorGone is closed when the editor has said its last word, and the agent has
// been told.
func (p *Proxy) EditorGone() <-chan struct{} { return p.editorGone }

var (
	errAgentGone = errors.New("acp: the agent has ended")
	errLinkLost  = errors.New("acp: the connection to the host was lost")
)

// Run carries messages until the agent's stream ends. host answers terminal
// requests; its Config.OnState must be [Proxy.HostState]. It returns why the
// agent could not be read to the end, or nil. The goroutine that reads the editor
// ends with the editor's stream, which Run does not wait for.
func (p *Proxy) Run(host *client.Client) error {
	p.host = host
	p.tasks.Go(p.dispatch)
	p.tasks.Go(p.finish)
	p.tasks.Go(p.attendHost)
	go p.readEditor()
	err := p.readAgent()
	p.cancel(errAgentGone)
	p.tasks.Wait()
	return err
}

// attendHost notices when the client ends for good, which is no change of state.
func (p *Proxy) attendHost() {
	select {
	case <-p.host.Done():
		p.HostState(client.State{Err: p.host.Err()})
	case <-p.ctx.Done():
	}
}

// HostState is told of changes of the host's connection. With its loss the host
// has ended the agent's terminals.
func (p *Proxy) HostState(s client.State) {
	p.mu.Lock()
	news := (p.lost == nil) != s.Connected
	p.lost = s.Err
	if news && !s.Connected {
		p.unlink(errLinkLost)
		p.link, p.unlink = context.WithCancelCause(p.ctx)
	}
	p.mu.Unlock()
	switch {
	case !news:
	case s.Connected:
		p.cfg.Note("the host is back")
	default:
		p.cfg.Note("the connection to the host is lost; its terminals have ended: " + reason(s.Err))
	}
}

// readEditor passes the editor's messages on. An agent that takes none any more
// does not stop the editor.
func (p *Proxy) readEditor() {
	defer p.endEditor()
	in := newLines(p.cfg.Editor.In)
	for {
		line, err := in.next()
		if err != nil {
			return
		}
		if out := p.fromEditor(line); out != nil {
			_ = p.agent.write(out) // its end is seen on its other stream
		}
	}
}

// endEditor tells the agent that there is no editor any more.
func (p *Proxy) endEditor() {
	p.goneOnce.Do(func() {
		_ = p.cfg.Agent.Out.Close() // an error says that it is closed
		close(p.editorGone)
	})
}

func (p *Proxy) readAgent() error {
	in := newLines(p.cfg.Agent.In)
	for {
		line, err := in.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		p.fromAgent(line)
	}
}

// toEditor writes a message. An editor that takes none any more has gone.
func (p *Proxy) toEditor(line []byte) {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.toEditorLocked(line)
}

// toEditorLocked is toEditor for who holds the outlet's lock.
func (p *Proxy) toEditorLocked(line []byte) {
	if p.editor.writeLocked(line) != nil {
		p.endEditor()
	}
}

// fromEditor returns what of a message the agent gets.
func (p *Proxy) fromEditor(line []byte) []byte {
	mode := p.mode.Load()
	if mode == transparent {
		return line
	}
	m, ok := parse(line)
	switch {
	case !ok:
	case m.isRequest() && m.method == methodInitialize:
		return p.initialize(&m)
	case mode == undecided:
	case m.isResponse():
		if p.answered(&m) {
			return nil
		}
	case m.isRequest() && bytes.HasPrefix([]byte(m.method), []byte("session/")):
		p.sessionAsked(&m)
	}
	return line
}

// fromAgent does with a message of the agent's what has to be done.
func (p *Proxy) fromAgent(line []byte) {
	mode := p.mode.Load()
	if mode == transparent {
		p.toEditor(line)
		return
	}
	m, ok := parse(line)
	switch {
	case !ok:
	case mode == undecided && !m.isResponse():
	case isTerminalMethod(m.method):
		if m.isRequest() || m.nullID || m.method == methodKill || m.method == methodRelease {
			p.enqueue(&m)
		} // nobody wants the answer to the others
		return
	case m.method == methodUpdate, m.method == methodPermission:
		p.update(&m)
		return
	case m.method == methodCancel && m.id == nil:
		if p.cancelled(&m) {
			return
		}
	case m.isResponse():
		p.agentAnswered(&m)
	}
	p.toEditor(line)
}

// name returns what the agent is called.
func (p *Proxy) name() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return cmp.Or(p.agentName, p.cfg.AgentName)
}
