package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

// NewerError says that a later termhost has written to the state folder in a format that this one
// does not know.
type NewerError struct {
	Terminal      string // its folder's name
	What          string // "description" or "log"
	Format, Known int    // of that; Known is the latest that this program reads
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("a newer termhost has written the state folder: the %s of terms/%s has "+
		"format %d, and this termhost reads up to %d", e.What, e.Terminal, e.Format, e.Known)
}

// CheckFormats returns a *NewerError if a later termhost has written a terminal in the state
// folder. A host that started anyway would set such terminals aside and end their programs.
// CheckFormats changes nothing, and ignores what it cannot read: see [Restore]. stateDir "": there
// is none.
func CheckFormats(stateDir string) error {
	if stateDir == "" {
		return nil
	}
	terms := filepath.Join(stateDir, foldersDir)
	entries, _ := os.ReadDir(terms) // without entries there is nothing to misread
	for _, e := range entries {
		dir := filepath.Join(terms, e.Name())
		if f := formatOf(dir); f > Format {
			return &NewerError{e.Name(), "description", f, Format}
		}
		var other *termlog.FormatError
		if errors.As(termlog.CheckFormat(dir), &other) && other.Format > termlog.Format {
			return &NewerError{e.Name(), "log", other.Format, termlog.Format}
		}
	}
	return nil
}

// formatOf returns the format of the description in a terminal's folder; 0: it cannot be read.
func formatOf(dir string) int {
	text, err := statefile.Read(filepath.Join(dir, descriptionFile))
	if err != nil {
		return 0
	}
	var d struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(text, &d) != nil {
		return 0
	}
	return d.Format
}
