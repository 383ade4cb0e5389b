package main

import (
	"fmt"
	"runtime/debug"
)

// version returns the version of the module if the binary was installed as one, else the commit it
// was built from, else "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

func printVersion(c *call) int {
	if code, ok := c.parse(c.flags(), 0); !ok {
		return code
	}
	fmt.Fprintln(c.std.out, "termhost", version())
	return exitOK
}
