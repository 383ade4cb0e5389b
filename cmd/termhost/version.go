package main

import (
	"flag"
	"fmt"
	"runtime/debug"
)

// version returns the module's version where the binary was installed as one,
// else the commit it was built from, else "devel".
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

func printVersion(args []string, std stdio) int {
	if code, ok := parseFlags(flag.NewFlagSet("version", flag.ContinueOnError), args, 0, "", std); !ok {
		return code
	}
	fmt.Fprintln(std.out, "termhost", version())
	return exitOK
}
