package host

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/keys"
	"termhost/ptypool"
	"termhost/ptypool/termlog"
)

// metaFormat is the format of descriptions, events and checkpoints. A host does not read others.
const metaFormat = 1

// meta describes a terminal in its journal. It is written when the terminal is made, when its guard
// is turned on or off, when its tag changes and when it has exited; what else changes in between,
// the outline, is in the log.
type meta struct {
	Format    int             `json:"format"`
	Boot      string          `json:"boot"` // see bootID
	URI       string          `json:"uri"`
	Name      string          `json:"name"`
	Created   time.Time       `json:"created"`
	Creator   identity        `json:"creator"`
	CreatedBy string          `json:"createdBy,omitempty"` // "": the creator's name
	Proof     json.RawMessage `json:"proof,omitempty"`     // what the creator came in with
	Transient bool            `json:"transient,omitempty"`
	Forced    bool            `json:"forced,omitempty"`
	Client    bool            `json:"client,omitempty"` // it is client-executed
	// Grace is how long a client-executed terminal waits for an owner that is away; 0: not at all.
	Grace    time.Duration `json:"grace,omitempty"`
	Detached bool          `json:"detached,omitempty"` // on pipes, and outlives its connection
	IsPty    bool          `json:"isPty,omitempty"`
	Piped    bool          `json:"piped,omitempty"`
	Guarded  bool          `json:"guarded,omitempty"`
	Term     string        `json:"term,omitempty"`   // its TERM
	Nonce    string        `json:"nonce,omitempty"`  // of shell integration
	Marker   string        `json:"marker,omitempty"` // of its processes
	Tag      string        `json:"tag,omitempty"`    // see CreateOptions
	Outline  outline       `json:"outline"`
	End      *ending       `json:"end,omitempty"` // nil: it runs
}

// identity is an [authz.Principal] on disk.
type identity struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	Role        string       `json:"role"`
	Fingerprint string       `json:"fingerprint,omitempty"`
	Token       string       `json:"token,omitempty"`
	Expires     time.Time    `json:"expires,omitzero"`
	ReadOnly    bool         `json:"readOnly,omitempty"`
	Command     string       `json:"command,omitempty"`
	NoForward   bool         `json:"noForward,omitempty"`
	Forwards    bool         `json:"forwards,omitempty"`
	Opens       keys.Permits `json:"opens,omitempty"`
	Listens     keys.Permits `json:"listens,omitempty"`
	NoAgent     bool         `json:"noAgent,omitempty"`
	Guest       string       `json:"guest,omitempty"`
	Inviter     string       `json:"inviter,omitempty"`
	UID         string       `json:"uid,omitempty"`
	Secrets     bool         `json:"secrets,omitempty"`
	Inside      bool         `json:"inside,omitempty"`
	Limits      authz.Limits `json:"limits,omitzero"`
	Reach       authz.Reach  `json:"reach,omitempty"`
}

func identityOf(p authz.Principal) identity {
	return identity{
		ID: p.ID, Name: p.Name, Role: p.Role.String(), Fingerprint: p.Fingerprint, Token: p.Token,
		Expires: p.Expires, ReadOnly: p.ReadOnly, Command: p.Command, NoForward: p.NoForward,
		Forwards: p.Forwards, Opens: p.Opens, Listens: p.Listens, NoAgent: p.NoAgent,
		Guest: p.Guest, Reach: p.Reach, Inviter: p.Inviter, UID: p.UID, Secrets: p.TypesSecrets,
		Inside: p.Inside, Limits: p.Limits,
	}
}

// principal returns whose identity it is. With a role that is not known it may do nothing.
func (i identity) principal() authz.Principal {
	role, _ := authz.ParseRole(i.Role)
	return authz.Principal{
		ID: i.ID, Name: i.Name, Role: role, Fingerprint: i.Fingerprint, Token: i.Token,
		Expires: i.Expires, ReadOnly: i.ReadOnly, Command: i.Command, NoForward: i.NoForward,
		Forwards: i.Forwards, Opens: i.Opens, Listens: i.Listens, NoAgent: i.NoAgent,
		Guest: i.Guest, Reach: i.Reach, Inviter: i.Inviter, UID: i.UID, TypesSecrets: i.Secrets,
		Inside: i.Inside, Limits: i.Limits,
	}
}

// outline is what listings need of a terminal, as its actions leave it.
type outline struct {
	Title     string       `json:"title"`
	Renamed   bool         `json:"renamed,omitempty"` // a person has given the title, which stays
	Cwd       string       `json:"cwd,omitempty"`
	Cols      int          `json:"cols"`
	Rows      int          `json:"rows"`
	Holder    heldBy       `json:"holder"`
	Loans     *loans       `json:"loans,omitempty"` // nil: the holder has it as its own
	Owner     *ownerMark   `json:"owner,omitempty"` // of a client-executed terminal; nil: not yet
	Detection bool         `json:"detection,omitempty"`
	Commands  int          `json:"commands,omitempty"` // how many the shell has told of
	Last      *lastCommand `json:"last,omitempty"`     // nil: there was none
}

// heldBy is a [holder] on disk.
type heldBy struct {
	Claim     exactClaim `json:"claim"`
	Principal string     `json:"principal"`
	Name      string     `json:"name"`
	Agent     string     `json:"agent,omitempty"`
}

// loans are [Terminal.prior] and [Terminal.lent] on disk: who lent, the last one first.
type loans struct {
	Prior []heldBy `json:"prior,omitempty"`
	Lent  []heldBy `json:"lent,omitempty"`
}

func loansOf(prior, lent *loan) *loans {
	if prior == nil && lent == nil {
		return nil
	}
	return &loans{prior.held(), lent.held()}
}

func (l *loan) held() (list []heldBy) {
	for ; l != nil; l = l.earlier {
		list = append(list, heldByOf(l.from))
	}
	return list
}

func loanOf(list []heldBy) (l *loan) {
	for _, from := range slices.Backward(list) {
		l = &loan{from.holder(), l}
	}
	return l
}

// ownerMark is the last action of a client-executed terminal's owner that is in the log. Its output
// is n bytes long and ends at position end. If the log ends before that, the host was killed in the
// middle of it.
type ownerMark struct {
	Seq  int64 `json:"seq"` // the clientSeq
	N    int64 `json:"n,omitempty"`
	End  int64 `json:"end,omitempty"`
	Half rune  `json:"half,omitempty"` // see clientExecutor.half
	Was  rune  `json:"was,omitempty"`  // the same before the action
}

// exactClaim is a claim as it is, while AHP's encoding fills in what a version requires.
type exactClaim ahp.Claim

func heldByOf(h holder) heldBy {
	return heldBy{exactClaim(h.claim), h.principal, h.name, h.agent}
}

func (h heldBy) holder() holder {
	return holder{ahp.Claim(h.Claim), h.Principal, h.Name, h.Agent}
}

// lastCommand is the command that was begun last.
type lastCommand struct {
	ID         string    `json:"id"`
	Line       string    `json:"line"`
	By         string    `json:"by,omitempty"`
	Cwd        string    `json:"cwd,omitempty"`
	Timestamp  int64     `json:"timestamp"` // as it was told, in ms since 1970
	Began      time.Time `json:"began"`
	Over       bool      `json:"over,omitempty"`
	ExitCode   *int      `json:"exitCode,omitempty"`
	DurationMs *int64    `json:"durationMs,omitempty"`
}

func (c *lastCommand) executed() ahp.TerminalCommandExecuted {
	return ahp.TerminalCommandExecuted{
		CommandID: c.ID, CommandLine: c.Line, Timestamp: c.Timestamp, By: c.By,
		Cwd: c.Cwd,
	}
}

func (c *lastCommand) finished() ahp.TerminalCommandFinished {
	return ahp.TerminalCommandFinished{
		CommandID: c.ID, ExitCode: c.ExitCode, DurationMs: c.DurationMs,
	}
}

// event is an action in the log.
type event struct {
	Action json.RawMessage `json:"action,omitempty"`
	// Parsed says that the action was made of the output that comes before it in the log. Whoever
	// parses that output again gets it again, in its place.
	Parsed  bool    `json:"parsed,omitempty"`
	Renamed bool    `json:"renamed,omitempty"` // of a title: a person has given it
	Holder  *heldBy `json:"holder,omitempty"`  // of a claim: who holds the terminal then
	Loans   *loans  `json:"loans,omitempty"`   // likewise
	// Owner comes with what the owner of a client-executed terminal does. There need be no action:
	// then it is output that follows.
	Owner *ownerMark `json:"owner,omitempty"`
}

// ending is how a terminal ended.
type ending struct {
	termlog.Status
	Untold bool   `json:"untold,omitempty"` // readers are told no code
	Why    string `json:"why,omitempty"`    // see Terminal.EndedBy
}

func (e *ending) status() ptypool.ExitStatus {
	return ptypool.ExitStatus{Code: e.Code, Signal: syscall.Signal(e.Signal)}
}

// action returns what readers are told.
func (e *ending) action() ahp.TerminalExited {
	if e.Untold {
		return ahp.TerminalExited{}
	}
	return ahp.TerminalExited{ExitCode: &e.Code}
}

func (o *outline) prior() *loan {
	if o.Loans == nil {
		return nil
	}
	return loanOf(o.Loans.Prior)
}

func (o *outline) lent() *loan {
	if o.Loans == nil {
		return nil
	}
	return loanOf(o.Loans.Lent)
}

// apply notes what an action changes. ev has what the action itself does not say.
func (o *outline) apply(a ahp.Action, ev event, at time.Time) {
	switch a := a.(type) {
	case ahp.TerminalTitleChanged:
		o.Title, o.Renamed = a.Title, ev.Renamed
	case ahp.TerminalCwdChanged:
		o.Cwd = a.Cwd
	case ahp.TerminalResized:
		o.Cols, o.Rows = a.Cols, a.Rows
	case ahp.TerminalClaimed:
		if ev.Holder != nil {
			o.Holder, o.Loans = *ev.Holder, ev.Loans
		}
	case ahp.TerminalCommandDetectionAvailable:
		o.Detection = true
	case ahp.TerminalCommandExecuted:
		o.Detection = true
		if ev.Parsed {
			o.Commands++
		}
		o.Last = &lastCommand{ID: a.CommandID, Line: a.CommandLine, By: a.By, Cwd: a.Cwd,
			Timestamp: a.Timestamp, Began: at}
	case ahp.TerminalCommandFinished:
		if o.Last != nil && o.Last.ID == a.CommandID {
			last := *o.Last
			last.Over, last.ExitCode, last.DurationMs = true, a.ExitCode, a.DurationMs
			o.Last = &last
		}
	case ahp.TerminalCleared:
		if o.Last != nil && o.Last.Over {
			o.Last = nil
		}
	}
}

// check returns what is wrong with a description.
func (m *meta) check() error {
	name, ok := ahp.TerminalName(m.URI)
	uri, valid := ahp.NormalizeChannel(m.URI)
	o := &m.Outline
	cols, rows := ptypool.ClampSize(o.Cols, o.Rows)
	switch {
	case m.Format != metaFormat:
		return fmt.Errorf("its description has format %d, which this termhost does not know",
			m.Format)
	case !ok, !valid, uri != m.URI, name != m.Name, !validClaim(ahp.Claim(o.Holder.Claim)),
		cols != o.Cols, rows != o.Rows:
		return errors.New("its description is no terminal's")
	}
	return nil
}

// snapshot is a checkpoint in the log: what the records behind it can be followed from.
type snapshot struct {
	Outline  outline `json:"outline"`
	Position int64   `json:"position"` // in the channel
	// redraw brings a blank screen of the outline's size to what the program had drawn, without the
	// scrollback. It follows the JSON.
	redraw []byte
	// marks do the same for shell integration.
	Marks string `json:"marks,omitempty"`
}

// append appends the snapshot: the length of the JSON (uint32, little endian), the JSON, and the
// redraw.
func (s *snapshot) append(dst []byte) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic("host: a snapshot does not marshal: " + err.Error()) // it has only plain fields
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
	return append(append(dst, text...), s.redraw...)
}

// parseSnapshot reads what append has written. ok is false for anything else.
func parseSnapshot(p []byte) (s snapshot, ok bool) {
	if len(p) < 4 {
		return s, false
	}
	n := int(binary.LittleEndian.Uint32(p))
	if p = p[4:]; n > len(p) || json.Unmarshal(p[:n], &s) != nil {
		return s, false
	}
	s.redraw = p[n:]
	return s, true
}
