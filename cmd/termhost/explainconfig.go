//go:build linux && !laptop

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"termhost/cmd/termhost/access"
	"termhost/cmd/termhost/config"
)

// explainConfig is `termhost config`: it checks the configuration as serve does, and prints what
// counts.
func explainConfig(c *call) int {
	fs, std := c.flags(), c.std
	file := fs.String("c", "", "")
	asJSON := fs.Bool("json", false, "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	e, err := config.Explain(*file)
	if err != nil {
		return failConfig(std, err)
	}
	nameless, err := checkFiles(e.Config)
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	if nameless != "" {
		fmt.Fprintf(std.err, "warning: on this machine you are uid:%d: %s\n", os.Geteuid(),
			nameless)
	}
	if *asJSON {
		err = printConfigJSON(std, &e)
	} else {
		_, err = fmt.Fprint(std.out, e.TOML())
	}
	if err != nil {
		return exitFailure
	}
	return exitOK
}

// checkFiles reports what is wrong with the files that a configuration names, as the start of a
// host would. It makes none. nameless is that of [access.Check].
func checkFiles(cfg config.Config) (nameless string, err error) {
	nameless, err = access.Check(cfg)
	_, other := readCertificate(cfg.HTTP)
	return nameless, errors.Join(err, other)
}

func printConfigJSON(std stdio, e *config.Explained) error {
	out := struct {
		File   string                  `json:"file"` // "": there is none
		Looked []string                `json:"looked"`
		Keys   map[string]config.Value `json:"keys"`
	}{e.Path, e.Looked, map[string]config.Value{}}
	for _, v := range e.Values() {
		out.Keys[v.Key] = v
	}
	enc := json.NewEncoder(std.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
