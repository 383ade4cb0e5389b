package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of a release, such as v1.2.3, and revision the commit that it was built
// from. cmd/termhost/dist/package sets both with the linker's -X, so that a release built from an
// archive without git says the same. "": what the go command has stamped counts.
var release, revision string

// version returns the version of the release, or of the module if the binary was installed as one,
// else the commit it was built from, else "devel".
func version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if commit, _ := stampedCommit(info); len(commit) >= 12 {
		return "devel-" + commit[:12]
	}
	return "devel"
}

// stampedCommit returns the commit that the go command has stamped, "" for none, and whether the
// files differed from it.
func stampedCommit(info *debug.BuildInfo) (commit string, modified bool) {
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	return commit, modified
}

// versionInfo is what `version --json` prints.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // a commit; "": it is not known
	Modified bool   `json:"modified,omitempty"` // the files differed from that commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	hostFormats
}

// hostFormats are the formats of what hosts keep. They are 0 where no host runs.
type hostFormats struct {
	// StateFormat is the format of the state folder. A host refuses to start on a later one.
	StateFormat int `json:"stateFormat,omitempty"`
	// KeeperProtocol is what this program speaks as host and as keeper; it understands others from
	// KeeperOldest on.
	KeeperProtocol int `json:"keeperProtocol,omitempty"`
	KeeperOldest   int `json:"keeperOldest,omitempty"`
}

func describeVersion() versionInfo {
	v := versionInfo{
		Version: version(), Revision: revision,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		hostFormats: formats(),
	}
	if info, ok := debug.ReadBuildInfo(); ok && v.Revision == "" {
		v.Revision, v.Modified = stampedCommit(info)
	}
	return v
}

func printVersion(c *call) int {
	fs := c.flags()
	asJSON := fs.Bool("json", false, "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	if !*asJSON {
		fmt.Fprintln(c.std.out, "termhost", version())
		return exitOK
	}
	if err := json.NewEncoder(c.std.out).Encode(describeVersion()); err != nil {
		return fail(c.std, exitFailure, err.Error(), "")
	}
	return exitOK
}
