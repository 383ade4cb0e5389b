package keys

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
)

// kind is what a watched file is for.
type kind int

const (
	authorizedKeys kind = iota
	trustedCAs
	revokedKeys
)

// watched is a file and its content as last read. Ring.mu guards it.
type watched struct {
	path string
	kind kind

	seen    stamp
	loaded  bool // the file has been read, or is missing and may be
	digest  [sha256.Size]byte
	content keyFile // nothing while err is set
	err     error   // why the file is refused now
	kept    bool    // content is from before the file lost its keys: see Ring.keepKeys

	// withdrawn are the keys, in wire form, that the file authorised before it was refused.
	withdrawn map[string]bool
}

// reload reads the file if it seems to have changed, and reports whether its content has changed.
func (f *watched) reload(inspect inspector) bool {
	if _, seen, _ := inspect.inspect(f.path); seen == f.seen && f.seen != "" {
		return false
	}
	data, seen, err := inspect.read(f.path)
	if f.kind == authorizedKeys && errors.Is(err, fs.ErrNotExist) {
		data, err = nil, nil
	}
	if f.seen = seen; isFresh(f.path) {
		f.seen = "" // read it again: a second edit within the clock's resolution would not show
	}
	f.kept = false
	digest := sha256.Sum256(data)
	if err == nil && f.loaded && f.err == nil && digest == f.digest {
		return false
	}
	var content keyFile
	if err == nil {
		content, err = parseKeyFile(f.path, f.kind, data)
	}
	if err != nil {
		return f.refuse(err)
	}
	f.digest, f.loaded, f.content = digest, true, content
	f.err, f.withdrawn = nil, nil
	return true
}

// keep restores the file's content as it was before, until a new one can be put into effect.
func (f *watched) keep(before watched) {
	*f = before
	f.kept = true
	f.seen = "" // read it again: it may have keys by then
}

// tell logs what has changed since before. Errors of the first reading are returned to the caller
// of [Open] or [Ring.SetFiles] instead.
func (f *watched) tell(log *slog.Logger, before watched) {
	again := before.loaded || before.err != nil
	if f.err != nil {
		if again {
			log.Error("key file refused; its keys are withdrawn",
				"file", f.path, "reason", f.err.Error())
		}
		return
	}
	for _, note := range f.content.notes {
		log.Warn("key line", "note", note)
	}
	switch {
	case !again:
	case f.kind == revokedKeys:
		log.Info("revoked keys read again", "file", f.path, "keys", len(f.content.revoked))
	case len(f.content.entries) == 0:
		log.Warn("key file read again; it has no keys", "file", f.path, "keys", 0)
	default:
		log.Info("key file read again", "file", f.path, "keys", len(f.content.entries))
	}
}

// refuse withdraws the file's keys. It reports whether the reason is new.
func (f *watched) refuse(err error) bool {
	var refusal *StrictModesError
	if !errors.As(err, &refusal) {
		err = fmt.Errorf("keys: %s is refused: %w", f.path, reason(err))
		f.seen = "" // try again: the cause may pass, such as a lack of descriptors
	}
	if f.err != nil && f.err.Error() == err.Error() {
		return false
	}
	if f.withdrawn == nil {
		f.withdrawn = map[string]bool{}
		for _, e := range f.content.entries {
			f.withdrawn[string(e.Key.Marshal())] = true
		}
	}
	f.err, f.content = err, keyFile{}
	return true
}
