package journal

import (
	"encoding/binary"
	"encoding/json"
	"syscall"

	"termhost/ahp"
	"termhost/ptypool"
	"termhost/ptypool/termlog"
)

// Event is an action in the log.
type Event struct {
	Action json.RawMessage `json:"action,omitempty"`
	// Parsed: the action was parsed from the output before it in the log. Parsing that output again
	// yields the action again.
	Parsed  bool    `json:"parsed,omitempty"`
	Renamed bool    `json:"renamed,omitempty"` // of a title: a person has set it
	Holder  *Holder `json:"holder,omitempty"`  // of a claim: the new holder
	Loans   *Loans  `json:"loans,omitempty"`   // likewise
	Decided bool    `json:"decided,omitempty"` // likewise: see Outline.Decided
	// Owner is set for each action of a client-executed terminal's owner. If Action is empty, the
	// next output is the owner's action.
	Owner *OwnerMark `json:"owner,omitempty"`
	// Missed has the people for whom Outline.Missed changes; nil: the person is forgotten.
	Missed map[string]*Missed `json:"missed,omitempty"`
	Status *Status            `json:"status,omitempty"` // nil: it does not change
	Waits  *Waits             `json:"waits,omitempty"`  // likewise
	// Pixels is the size of the window from now on, in pixels, by which pictures are measured; nil:
	// it does not change.
	Pixels *ptypool.Pixels `json:"pixels,omitempty"`
	// Clusters is whether mode 2027 is known from now on; nil: it does not change.
	Clusters *bool `json:"clusters,omitempty"`
}

// Encode returns the payload of an Event record.
func (ev Event) Encode() []byte { return encode(ev) }

// ParseEvent reads the payload of an Event record. a is nil if there is no action, or an unknown
// one.
func ParseEvent(payload []byte) (ev Event, a ahp.Action) {
	if json.Unmarshal(payload, &ev) != nil {
		return Event{}, nil
	}
	if ev.Action == nil {
		return ev, nil
	}
	a, err := ahp.DecodeAction(ev.Action)
	if err != nil {
		return ev, nil
	}
	return ev, a
}

// Ending is how a terminal ended: the payload of an Exit record, and the file "exit".
type Ending struct {
	termlog.Status
	Untold bool   `json:"untold,omitempty"` // readers are not told the code
	Why    string `json:"why,omitempty"`    // for display, if the program did not exit by itself
}

// Encode returns the payload of an Exit record.
func (e *Ending) Encode() []byte { return encode(e) }

// ParseEnding reads the payload of an Exit record; nil: it is not valid.
func ParseEnding(payload []byte) *Ending {
	e := &Ending{}
	if json.Unmarshal(payload, e) != nil {
		return nil
	}
	return e
}

// ExitStatus returns how the program ended.
func (e *Ending) ExitStatus() ptypool.ExitStatus {
	return ptypool.ExitStatus{Code: e.Code, Signal: syscall.Signal(e.Signal)}
}

// Told returns the exit code that readers get.
func (e *Ending) Told() ahp.TerminalExited {
	if e.Untold {
		return ahp.TerminalExited{}
	}
	return ahp.TerminalExited{ExitCode: &e.Code}
}

// Snapshot is the payload of a Checkpoint record: the state from which the following records are
// interpreted.
type Snapshot struct {
	Outline  Outline `json:"outline"`
	Position int64   `json:"position"` // in the channel
	// Redraw draws the program's screen on a blank one of the outline's size, without the
	// scrollback. It follows the JSON.
	Redraw []byte `json:"-"`
	// Marks do the same for shell integration and for what was copied last (OSC 52).
	Marks string `json:"marks,omitempty"`
	// Modes follow the redraw, which has the modes of viewers' terminals in their place.
	Modes string `json:"modes,omitempty"`
}

// Encode returns the payload: the length of the JSON (uint32, little endian), the JSON, and the
// redraw.
func (s *Snapshot) Encode() []byte {
	text := encode(s)
	p := make([]byte, 0, 4+len(text)+len(s.Redraw))
	p = binary.LittleEndian.AppendUint32(p, uint32(len(text)))
	return append(append(p, text...), s.Redraw...)
}

// ParseSnapshot reads the payload of a Checkpoint record; the Redraw is a part of p. ok is false
// for anything else.
func ParseSnapshot(p []byte) (s Snapshot, ok bool) {
	if len(p) < 4 {
		return s, false
	}
	n := int(binary.LittleEndian.Uint32(p))
	if p = p[4:]; n > len(p) || json.Unmarshal(p[:n], &s) != nil {
		return s, false
	}
	s.Redraw = p[n:]
	return s, true
}
