package verbs

import (
	"flag"
	"fmt"
)

// defineWhoami prints the peer's identity.
func defineWhoami(fs *flag.FlagSet) func(*invocation) int {
	asJSON := fs.Bool("json", false, "print a JSON object")
	return func(v *invocation) int { return v.whoami(*asJSON) }
}

func (v *invocation) whoami(asJSON bool) int {
	p := v.principal()
	if asJSON {
		return v.printJSON(struct {
			Name        string `json:"name"`
			Role        string `json:"role"`
			Fingerprint string `json:"fingerprint"`
		}{p.Name, p.Role.String(), p.KeyOf()})
	}
	writeTable(v.stdout, [][]string{{p.Name, p.Role.String(), p.KeyOf()}}, 0)
	if p.UID != "" && p.KeyOf() == "" && v.Nameless != nil {
		if why := v.Nameless(); why != "" {
			fmt.Fprintln(v.stdout, why)
		}
	}
	if p.ReadOnly {
		fmt.Fprintln(v.stdout, "this key may only list and read")
	}
	return StatusOK
}
