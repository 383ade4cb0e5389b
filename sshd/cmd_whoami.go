package sshd

import (
	"fmt"
)

func runWhoami(v *invocation) int {
	fs := v.flags()
	asJSON := fs.Bool("json", false, "")
	if _, status, done := v.parse(fs, 0, 0); done {
		return status
	}
	p := v.principal()
	if *asJSON {
		return v.printJSON(struct {
			Name        string `json:"name"`
			Role        string `json:"role"`
			Fingerprint string `json:"fingerprint"`
		}{p.Name, p.Role.String(), p.Fingerprint})
	}
	writeTable(v.stdout, [][]string{{p.Name, p.Role.String(), p.Fingerprint}}, 0)
	if p.ReadOnly {
		fmt.Fprintln(v.stdout, "this key may only list and read")
	}
	return statusOK
}
