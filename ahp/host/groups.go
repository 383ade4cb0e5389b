package host

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"termhost/ahp"
)

// groupLabel is the label whose value is the terminal's group.
const groupLabel = "group"

// groups says which terminals belong together: by their label, or else by the git repository and
// the branch of their working directories.
type groups struct {
	mu    sync.Mutex        // a leaf
	known map[string]branch // by the URIs of directories
}

// branch is the repository and branch of a directory.
type branch struct {
	name string // "": there is none
	at   time.Time
}

const (
	// branchAge is how long a branch is taken to stay: lists are made several times a second.
	branchAge = 5 * time.Second
	// maxBranches bounds the directories that are remembered.
	maxBranches = 1024
)

// of returns a terminal's group; "": it has none. cwd is the URI of its working directory.
func (g *groups) of(t *Terminal, cwd string) string {
	if name, ok := t.Labels().Get(groupLabel); ok {
		return name
	}
	if cwd == "" || t.Client() {
		return ""
	}
	now := t.host.now()
	g.mu.Lock()
	b, known := g.known[cwd]
	g.mu.Unlock()
	if known && now.Sub(b.at) < branchAge {
		return b.name
	}
	dir, ok := ahp.FilePath(cwd)
	if !ok {
		return ""
	}
	b = branch{Printable(branchOf(dir)), now}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.known == nil || len(g.known) >= maxBranches {
		g.known = map[string]branch{}
	}
	g.known[cwd] = b
	return b.name
}

// forget has a directory's branch looked at anew.
func (g *groups) forget(cwd string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.known, cwd)
}

// groupMayChange tells pages that the terminal may be in another group now. Any lock may be held.
func (t *Terminal) groupMayChange() {
	if t.kept.replay == nil {
		t.host.groups.forget(t.ch.Summary().Cwd)
		t.host.watchers.tellConns()
	}
}

// Groups returns the groups of the terminals that the connection's principal sees, by their URIs,
// of those that have one. It returns *authz.Denied if the principal may not list. It reads git's
// files.
func (c *Conn) Groups() (map[string]string, error) {
	order, err := c.Terminals()
	list := map[string]string{}
	for _, t := range order {
		if name := c.host.groups.of(t, t.ch.Summary().Cwd); name != "" {
			list[t.uri] = name
		}
	}
	return list, err
}

// branchOf returns REPOSITORY@BRANCH of a directory, or the repository alone if no branch is
// checked out; "": it is in none (gitrepository-layout(5)). A worktree counts to its repository. A
// program may name any directory as its own, so only what looks like git's files is shown.
func branchOf(dir string) string {
	for dir != "/" {
		git := filepath.Join(dir, ".git")
		name := filepath.Base(dir)
		st, err := os.Stat(git)
		switch {
		case err != nil:
			dir = filepath.Dir(dir)
			continue
		case !st.IsDir(): // of a worktree or a submodule
			to, ok := strings.CutPrefix(firstLine(git), "gitdir: ")
			if !ok {
				return ""
			}
			git = absolute(to, dir)
			if common := firstLine(filepath.Join(git, "commondir")); common != "" {
				name = repositoryOf(absolute(common, git))
			}
		}
		head := firstLine(filepath.Join(git, "HEAD"))
		if at, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
			return name + "@" + at
		}
		return name
	}
	return ""
}

// repositoryOf returns the name of the repository of which a worktree has the git directory dir in
// common with others.
func repositoryOf(dir string) string {
	if filepath.Base(dir) == ".git" {
		dir = filepath.Dir(dir)
	}
	return strings.TrimSuffix(filepath.Base(dir), ".git") // of one without a worktree of its own
}

// absolute returns a path that may be relative to dir.
func absolute(path, dir string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// maxGitLine bounds what is read of git's files, in bytes.
const maxGitLine = 1 << 10

// firstLine returns the first line of a regular file; "": there is none. It never waits, as it
// would for a pipe.
func firstLine(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(f, maxGitLine))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
