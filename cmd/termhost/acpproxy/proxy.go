package acpproxy

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

	"termhost/ahp/acp/wire"
	"termhost/ahp/client"
)

// Stream carries messages to and from the editor or the agent, one per line.
type Stream struct {
	In  io.Reader
	Out io.WriteCloser
}

// Config configures a Proxy. Attach, Away and Notice are required.
type Config struct {
	Editor, Agent Stream
	// AgentName is what the agent is called until it tells its own name.
	AgentName string
	// Dir is where a command starts if neither the agent nor its session names a directory; "": the
	// host decides.
	Dir string
	// Env, "NAME=value" each, is set for every command, unless the agent sets the variable.
	Env []string
	// Attach returns the command that shows the terminal of a URI, read-only, on the editor's
	// machine.
	Attach func(uri string) []string
	// Away is how long terminals wait for a host that is away, such as one that is restarted.
	Away time.Duration
	// Notice tells the user something, in one line. It may be called concurrently.
	Notice func(string)
}

// Proxy carries ACP between an editor and an agent. It passes every message on as it is and in its
// order, except that
//
//   - initialize tells the agent that there are client terminals;
//   - terminal requests of the agent are answered by the host;
//   - a terminal of the host in a tool call becomes a view: a terminal of the editor's, or text;
//   - the editor's answers to requests of the proxy's own, which views take, end here.
//
// What it does not understand it passes on. With a version of ACP later than 1 it changes nothing:
// such versions have no client terminals.
//
// Each direction is read by a goroutine of its own, which writes to the other side only. All other
// work is done by further goroutines, so that reading from one side never waits for writing to the
// same side. But the agent is not read while too many of its requests are under way.
//
// Lock order: editor.mu, viewMu, mu. Code that changes what the editor sees holds editor.mu from
// the change until the messages are written, so that they are written in the order of the changes.
type Proxy struct {
	cfg    Config
	editor messageWriter
	agent  messageWriter
	host   *client.Client
	ctx    context.Context // ends with the agent
	cancel context.CancelCauseFunc
	tasks  sync.WaitGroup // all goroutines but the two readers

	requests chan *request // the agent's terminal requests, in their order
	answers  chan func()   // what answers those that have been sent to the host, in their order
	waiting  atomic.Int32  // how many requests are answered out of order, when their time comes
	back     chan struct{} // 1 deep; has an element when there is a new connection to the host
	starts   chan struct{} // has one element for each live view that the editor is starting

	mode       atomic.Int32  // what is done with messages: active, undecided or transparent
	editorGone chan struct{} // closed when the editor's stream has ended
	goneOnce   sync.Once
	idPrefix   string        // begins the ids of the proxy's own requests
	editorWait time.Duration // the constants of these names, which tests change
	answerWait time.Duration

	mu              sync.Mutex // guards what follows; no lock is taken while it is held
	agentName       string
	editorTerminals bool              // the editor has terminals
	initializing    string            // the id of the editor's initialize
	starting        map[string]string // directories, by the id of a request for a session
	sessions        map[string]string // directories, by session

	terminals map[string]*remote // by id
	forgotten []*remote          // released ones still in terminals, oldest first

	answering map[string]context.CancelCauseFunc // the agent's terminal requests, by id
	asked     map[string]*question               // the proxy's own requests to the editor, by id
	lastID    int                                // the number of the latest of these

	permissions map[string]chan struct{} // closed when decided; by the agent's id of the request

	lost     error                   // why there is no connection to the host; nil: there is one
	giveUp   *time.Timer             // calls hostGone; nil: the host has not been away
	known    context.Context         // ends when the host has been away for too long
	endKnown context.CancelCauseFunc // ends known

	viewMu sync.Mutex            // guards what the editor sees of terminals; not held while writing
	calls  map[callKey]*toolCall // those whose content may still change
}

// New returns a Proxy that does not run yet.
func New(cfg Config) *Proxy {
	p := &Proxy{
		cfg:        cfg,
		editor:     messageWriter{w: cfg.Editor.Out},
		agent:      messageWriter{w: cfg.Agent.Out},
		requests:   make(chan *request, maxQueue),
		answers:    make(chan func(), maxUnderway),
		back:       make(chan struct{}, 1),
		starts:     make(chan struct{}, maxStarting),
		editorGone: make(chan struct{}),
		idPrefix:   "termhost-" + rand.Text()[:8] + "-",
		editorWait: editorWait,
		answerWait: answerWait,
		agentName:  cfg.AgentName,
		starting:   map[string]string{},
		sessions:   map[string]string{},
		terminals:  map[string]*remote{},
		answering:  map[string]context.CancelCauseFunc{},
		asked:      map[string]*question{},
		calls:      map[callKey]*toolCall{},

		permissions: map[string]chan struct{}{},
	}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	p.known, p.endKnown = context.WithCancelCause(p.ctx)
	return p
}

// EditorGone is closed when the editor's stream has ended and the agent has been told so, by the
// end of its own.
func (p *Proxy) EditorGone() <-chan struct{} { return p.editorGone }

var (
	errAgentGone = errors.New("acp: the agent has ended")
	errConnLost  = errors.New("acp: the connection to the host was lost")
)

// Run carries messages until the agent's stream ends. host answers terminal requests; the OnState
// of its Config must be [Proxy.HostState]. Run returns why the agent could not be read to the end,
// or nil. The goroutine that reads the editor ends with the editor's stream; Run does not wait for
// it.
func (p *Proxy) Run(host *client.Client) error {
	p.host = host
	p.tasks.Go(p.sendRequests)
	p.tasks.Go(p.sendAnswers)
	p.tasks.Go(p.watchHost)
	go p.readEditor()
	err := p.readAgent()
	p.cancel(errAgentGone)
	p.tasks.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.giveUp != nil {
		p.giveUp.Stop()
	}
	return err
}

// readEditor passes the editor's messages on. The editor is read on even if the agent takes none.
func (p *Proxy) readEditor() {
	defer p.endEditor()
	in := newLines(p.cfg.Editor.In)
	for {
		line, err := in.next()
		if err != nil {
			return
		}
		if out := p.fromEditor(line); out != nil {
			_ = p.agent.write(out) // an agent that has ended is noticed by its other stream
		}
	}
}

// endEditor tells the agent that there is no editor any more.
func (p *Proxy) endEditor() {
	p.goneOnce.Do(func() {
		_ = p.cfg.Agent.Out.Close() // an error says that it is closed already
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

// toEditor writes a message. An editor that takes no more messages has gone.
func (p *Proxy) toEditor(line []byte) {
	p.editor.mu.Lock()
	defer p.editor.mu.Unlock()
	p.toEditorLocked(line)
}

// toEditorLocked is toEditor for messages that belong together; editor.mu is held.
func (p *Proxy) toEditorLocked(messages ...[]byte) {
	for _, m := range messages {
		if p.editor.writeLocked(m) != nil {
			p.endEditor()
		}
	}
}

// fromEditor returns what the agent gets for a message of the editor's; nil: nothing.
func (p *Proxy) fromEditor(line []byte) []byte {
	mode := p.mode.Load()
	if mode == transparent && !bytes.Contains(line, []byte(methodInitialize)) {
		return line
	}
	m, ok := parse(line)
	switch {
	case !ok:
	case m.isRequest() && m.method == methodInitialize:
		return p.initialize(&m) // also one that follows, with an earlier version
	case mode == transparent, mode == undecided && m.isResponse():
	case m.isResponse():
		if p.takeAnswer(&m) {
			return nil
		}
		p.permissionDecided(&m)
	case m.isRequest() && bytes.HasPrefix([]byte(m.method), []byte("session/")):
		p.sessionAsked(&m)
	}
	return line
}

// fromAgent does what is to be done for a message of the agent's.
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
	case wire.IsTerminalMethod(m.method):
		// A notification gets no answer. Without one output and wait_for_exit are pointless, and
		// nobody could name the terminal that create makes.
		ends := m.method == wire.MethodKill || m.method == wire.MethodRelease
		if m.isRequest() || m.nullID || ends {
			p.enqueue(&m)
		}
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
