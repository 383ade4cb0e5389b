package host

import "fmt"

// ExistsError says that a NAME or a URI is taken.
type ExistsError struct{ Name string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("a terminal named %q exists; choose another name, or attach to it", e.Name)
}

// NameError says that a NAME is illegal.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q is no name for a terminal: use 1 to 64 letters, digits, dots, underscores and dashes", Printable(clip(e.Name)))
}

// DirError says that a terminal cannot start in a directory.
type DirError struct {
	Dir    string
	Reason string
}

func (e *DirError) Error() string {
	return fmt.Sprintf("cannot start in %s: %s", Printable(clip(e.Dir)), e.Reason)
}
