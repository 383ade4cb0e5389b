package rpc

import "termhost/ahp"

// field is a param that a request must have.
type field struct {
	name  string
	there bool
}

// require refuses a request that lacks one of the fields; nil: all are there.
func require(fields ...field) *ahp.Error {
	for _, f := range fields {
		if !f.there {
			return ahp.FieldProblem(f.name, "is missing")
		}
	}
	return nil
}
