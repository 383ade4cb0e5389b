package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool"
	"termhost/ptypool/statefile"
)

// Format is the format of descriptions, events and checkpoints, also in recordings. No other format
// is read.
const Format = 1

// Description describes a terminal. It is written when the terminal is made, when its guard, tag,
// labels or NAME change, and when it exits. Other changes, those of the outline, are in the log.
type Description struct {
	Format    int             `json:"format"` // see [Format], which Encode sets
	Boot      string          `json:"boot"`   // see [keeper.BootID]
	URI       string          `json:"uri"`
	Name      string          `json:"name"`
	Former    []string        `json:"former,omitempty"` // its earlier NAMEs, the last one first
	Created   time.Time       `json:"created"`
	Creator   authz.Principal `json:"creator"`
	CreatedBy string          `json:"createdBy,omitempty"` // "": the creator's name
	Proof     json.RawMessage `json:"proof,omitempty"`     // the creator's proof of its identity
	Transient bool            `json:"transient,omitempty"`
	Forced    bool            `json:"forced,omitempty"`
	Program   string          `json:"program,omitempty"` // its command line; "": a shell
	Client    bool            `json:"client,omitempty"`  // it is client-executed
	// Grace is how long a client-executed terminal waits for an absent owner; 0: not at all.
	Grace    time.Duration `json:"grace,omitempty"`
	Detached bool          `json:"detached,omitempty"` // on pipes, and outlives its connection
	IsPty    bool          `json:"isPty,omitempty"`
	Piped    bool          `json:"piped,omitempty"`
	Guarded  bool          `json:"guarded,omitempty"`
	// GuardedWhy is why a host has guarded it by itself, for display; "": none has.
	GuardedWhy string     `json:"guardedWhy,omitempty"`
	Labels     ahp.Labels `json:"labels,omitempty"`
	// Unstarted says that its program waits for a person's approval. A later host does not start
	// it.
	Unstarted bool   `json:"unstarted,omitempty"`
	Term      string `json:"term,omitempty"` // its TERM
	// Nonce is at the end of shell-integration marks in the log: [nonce.Genuine], which is not
	// secret. For a shell that an older version started it is the secret nonce itself.
	Nonce   string  `json:"nonce,omitempty"`
	Marker  string  `json:"marker,omitempty"` // of its processes
	Tag     string  `json:"tag,omitempty"`    // of the door that made it
	Outline Outline `json:"outline"`
	End     *Ending `json:"end,omitempty"` // nil: it runs
	// Damage says what of the log is lost, for display; "": nothing.
	Damage string `json:"damage,omitempty"`
}

// Encode returns the content of the description's file.
func (d Description) Encode() []byte {
	d.Format = Format
	return append(encode(&d), '\n')
}

// encode returns the JSON of a value whose fields always marshal.
func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic("journal: a value does not marshal: " + err.Error())
	}
	return text
}

// OtherName returns the NAME; "": it is the one that the URI ends with.
func (d *Description) OtherName() string {
	if id, _ := ahp.TerminalName(d.URI); id == d.Name {
		return ""
	}
	return d.Name
}

// check returns what is wrong with a description.
func (d *Description) check() error {
	_, ok := ahp.TerminalName(d.URI)
	uri, valid := ahp.NormalizeChannel(d.URI)
	cols, rows := ptypool.ClampSize(d.Outline.Cols, d.Outline.Rows)
	switch {
	case d.Format != Format:
		return fmt.Errorf("its description has format %d, which this termhost does not know",
			d.Format)
	case !ok, !valid, uri != d.URI, !ahp.ValidName(d.Name),
		cols != d.Outline.Cols, rows != d.Outline.Rows:
		return ErrNotTerminal
	}
	return nil
}

// ErrNotTerminal says that a description cannot be that of a terminal.
var ErrNotTerminal = errors.New("its description is not a terminal's")

// readDescription reads the description in a terminal's folder.
func readDescription(dir string) (d Description, err error) {
	text, err := statefile.Read(filepath.Join(dir, descriptionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return d, errors.New("it has no description")
	}
	if err == nil {
		err = d.decode(text)
	}
	return d, err
}

func (d *Description) decode(text []byte) error {
	if err := json.Unmarshal(text, d); err != nil {
		return fmt.Errorf("its description is damaged: %w", err)
	}
	return d.check()
}
