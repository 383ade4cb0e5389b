package roster

import (
	"encoding/json"
	"fmt"
)

// Format is that of what a fleet's hosts sign and store: the roster, the membership and the line to
// join. What says none has the first. What is only added to it is ignored by those who do not know
// it; the format rises when they must not go on.
const Format = 1

// FormatError refuses what a later termhost has made.
type FormatError struct {
	What   string
	Format int
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has format %d, of a newer termhost, and this one knows formats up to "+
		"%d: update termhost on this host, then try again", e.What, e.Format, Format)
}

// CheckFormat fails with a *FormatError if p, JSON, says that it has a later format.
func CheckFormat(what string, p []byte) error {
	var head struct {
		Format int `json:"format"`
	}
	if json.Unmarshal(p, &head) == nil && head.Format > Format {
		return &FormatError{what, head.Format}
	}
	return nil // what else is wrong, its reader says
}
