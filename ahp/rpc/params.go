package rpc

import "termhost/ahp"

// field is a param that a request must have.
type field struct {
	name  string
	there bool
}

// require returns the refusal of a request in which one of the fields is missing; nil: they are all
// there.
func require(fields ...field) *ahp.Error {
	for _, f := range fields {
		if !f.there {
			return ahp.FieldProblem(f.name, "is missing")
		}
	}
	return nil
}
