package main

import (
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// moduleRoot is the module's folder, seen from this package.
const moduleRoot = "../.."

// modulePath is the module's name, which its import paths begin with.
const modulePath = "termhost"

// mayImport is the layering: what each package may import of this module. All
// imports run downwards. A package below one named here is a part of it: it has
// the same rule, and both may import each other. cmd/termhost itself may import
// everything; a package below it needs a rule like any other.
func mayImport() map[string][]string {
	with := func(list []string, more ...string) []string { return slices.Concat(list, more) }
	below := []string{
		"ahp", "ahp/commandline", "ahp/history", "ahp/visible", "ahp/store", "authz", "keys", "ptypool",
		"ptypool/foreground", "ptypool/keyboard", "ptypool/vt",
	}
	// What a way in to the host may use. All it does is done by the host.
	door := []string{"ahp", "ahp/host", "ahp/rpc", "ahp/transport", "authz", "authz/admit"}
	// What a program that talks to a host from outside may use.
	outside := []string{"ahp", "ahp/client", "ahp/transport", "cmd/termhost/sshcmd"}
	return map[string][]string{
		"ahp":                     nil,
		"ahp/age":                 nil,
		"ahp/ahptest":             nil,
		"ahp/commandline":         nil,
		"ahp/spelling":            nil,
		"keys":                    {"ptypool/statefile", "ptypool/ticks"},
		"ptypool/foreground":      nil,
		"ptypool/keeper":          {"ptypool/cgroup", "ptypool/nonce", "ptypool/proctag", "ptypool/statefile", "ptypool/termlog", "ptypool/ttymodes"},
		"ptypool/nonblock":        nil,
		"ptypool/nonce":           nil,
		"ptypool/sockdiag":        nil,
		"ptypool/cgroup":          nil,
		"ptypool/proctag":         nil,
		"ptypool/environ":         nil,
		"ptypool/script":          nil,
		"ptypool/shellinit":       {"ptypool/environ", "ptypool/nonce", "ptypool/statefile"},
		"ptypool/smalldisk":       nil,
		"ptypool/keyboard":        nil,
		"ptypool/statefile":       nil,
		"ptypool/ticks":           nil,
		"ptypool/termlog":         {"ptypool/statefile"},
		"ptypool/ttymodes":        nil,
		"ptypool/picture":         nil,
		"ptypool/vt":              {"ptypool/keyboard", "ptypool/picture"},
		"authz":                   {"keys"},
		"authz/admit":             {"authz"},
		"ahp/transport":           {"ahp", "ptypool/nonblock", "ptypool/ticks"},
		"ahp/client":              {"ahp", "ahp/transport"},
		"ahp/store":               {"ahp"},
		"ahp/fleet":               {"ahp/age", "ahp/fleet/bus", "ahp/fleet/roster", "ahp/spelling", "authz", "authz/admit"},
		"ahp/fleet/bus":           {"authz/admit"},
		"ahp/fleet/roster":        {"ahp/spelling", "ptypool/statefile"},
		"ahp/history":             {"ahp", "ptypool/termlog", "ptypool/vt"},
		"ahp/visible":             {"ahp", "ptypool/vt"},
		"ptypool":                 {"ptypool/environ", "ptypool/keeper", "ptypool/keyboard", "ptypool/nonblock", "ptypool/nonce", "ptypool/proctag", "ptypool/script", "ptypool/sockdiag", "ptypool/ttymodes", "ptypool/vt"},
		"ahp/hosttest":            with(door, "ahp/history", "keys", "ptypool/proctag"),
		"ahp/journal":             {"ahp", "authz", "ptypool", "ptypool/keeper", "ptypool/statefile", "ptypool/termlog"},
		"ahp/drops":               nil,
		"ahp/await":               {"ahp/history", "ahp/idle", "authz", "authz/admit", "ptypool/vt"},
		"ahp/idle":                {"ahp", "ahp/journal", "ptypool", "ptypool/foreground", "ptypool/ticks", "ptypool/vt"},
		"ahp/recordings":          {"ahp", "ahp/journal", "authz", "authz/admit", "ptypool/statefile", "ptypool/termlog"},
		"ahp/host":                with(below, "ahp/await", "ahp/drops", "ahp/idle", "ahp/journal", "ahp/recordings", "authz/admit", "ptypool/cgroup", "ptypool/keeper", "ptypool/nonce", "ptypool/shellinit", "ptypool/termlog", "ptypool/ticks"),
		"ahp/rpc":                 {"ahp", "ahp/history", "ahp/host", "ahp/store", "ahp/transport", "authz", "authz/admit", "ptypool"},
		"ahp/acp":                 with(door, "ahp/acp/wire", "ahp/commandline", "ahp/visible", "ptypool"),
		"ahp/acp/wire":            {"ahp"},
		"ahp/mcp":                 with(door, "ahp/history", "ahp/spelling", "ahp/visible", "ptypool/keyboard"),
		"ahp/page":                with(door, "ahp/ws", "keys"),
		"ahp/ws":                  door,
		"sshd":                    with(door, "ahp/mcp", "keys", "ptypool/ticks", "sshd/typed", "sshd/verbs", "sshd/wire"),
		"sshd/carry":              {"ahp/age", "ahp/commandline", "ahp/fleet", "ahp/rpc", "authz", "ptypool/keyboard", "ptypool/vt", "sshd/typed", "sshd/verbs", "sshd/wire"},
		"sshd/verbs":              with(below, "ahp/host", "ahp/spelling", "sshd/listing", "sshd/verbs/completion", "sshd/verbs/helptext", "sshd/viewer", "sshd/wording"),
		"sshd/verbs/completion":   {"sshd/verbs/helptext"},
		"sshd/verbs/helptext":     {"ahp/spelling", "ptypool/keyboard", "ptypool/vt"},
		"sshd/listing":            {"ahp/history", "ahp/host", "ptypool/vt", "sshd/wording"},
		"sshd/viewer":             {"ahp", "ahp/commandline", "ahp/history", "ahp/host", "ahp/store", "ahp/visible", "authz", "ptypool", "ptypool/keyboard", "ptypool/vt", "sshd/listing", "sshd/wording"},
		"sshd/wording":            {"ahp", "ahp/age", "ahp/history", "ahp/host", "ptypool/vt"},
		"sshd/viewertest":         {"ahp/hosttest", "sshd/viewer"},
		"sshd/typed":              {"ptypool/keyboard"},
		"sshd/wire":               nil,
		"cmd/termhost/access":     {"authz", "cmd/termhost/config", "cmd/termhost/logs", "keys"},
		"cmd/termhost/acpproxy":   with(outside, "ahp/acp/wire", "cmd/termhost/proctable", "ptypool/script", "ptypool/vt"),
		"cmd/termhost/bench":      {"ahp/fleet/bus", "ahp/fleet/roster"},
		"cmd/termhost/config":     {"ahp/fleet", "ahp/spelling", "authz", "cmd/termhost/notify", "ptypool/keyboard", "ptypool/statefile"},
		"cmd/termhost/hooks":      {"ahp/commandline", "ahp/host", "ptypool/statefile"},
		"cmd/termhost/hostlock":   {"ptypool/statefile"},
		"cmd/termhost/local":      {"ahp/commandline", "cmd/termhost/local/predict", "cmd/termhost/tty", "ptypool/keyboard", "ptypool/vt", "sshd/wire"},
		"cmd/termhost/logs":       {"authz", "ptypool/statefile"},
		"cmd/termhost/man":        {"ptypool/vt", "sshd/verbs/helptext"},
		"cmd/termhost/mcpproxy":   {"ahp", "cmd/termhost/sshcmd"},
		"cmd/termhost/notify":     {"ahp", "ahp/host", "ptypool/proctag", "ptypool/statefile"},
		"cmd/termhost/processors": {"ptypool/ticks"},
		"cmd/termhost/proctable":  nil,
		"cmd/termhost/service":    nil,
		"cmd/termhost/share":      with(outside, "cmd/termhost/proctable", "cmd/termhost/tty", "ptypool/keyboard", "ptypool/nonce", "ptypool/shellinit", "ptypool/vt"),
		"cmd/termhost/sshcmd":     nil,
		"cmd/termhost/sshconfig":  {"ptypool/statefile"},
		"cmd/termhost/tty":        {"ptypool/ttymodes"},

		// What client and screen have between them.
		"cmd/termhost/local/predict": {"ptypool/keyboard", "ptypool/vt"},

		// A program of its own, which only packages are made with.
		"cmd/termhost/dist/sbom": nil,
	}
}

// knowNoSSH are the packages that may be reached by other ways in than SSH, and
// must not care which.
func knowNoSSH() []string {
	return []string{"ahp/host", "sshd/listing", "sshd/verbs", "sshd/viewer", "sshd/wording"}
}

// outsiders are the packages that run on the other side of a connection to the
// host, also where none runs.
func outsiders() []string {
	return []string{
		"ahp/transport", "ahp/client", "cmd/termhost/acpproxy", "cmd/termhost/local", "cmd/termhost/man",
		"cmd/termhost/mcpproxy", "cmd/termhost/proctable", "cmd/termhost/share", "cmd/termhost/sshcmd",
	}
}

// serverSide are the packages that only the host's own process needs.
func serverSide() []string {
	return []string{
		"ahp/acp", "ahp/await", "ahp/drops", "ahp/fleet", "ahp/host", "ahp/idle", "ahp/journal", "ahp/recordings", "ahp/rpc", "ahp/store", "ahp/ws",
		"authz", "authz/admit", "keys", "ptypool", "sshd", "sshd/carry", "sshd/listing", "sshd/verbs",
		"sshd/viewer", "sshd/wording",
	}
}

// pure are the packages that do no I/O and have no clock, so that the wire's
// reducers and the screen depend on their input alone.
func pure() []string {
	return []string{
		"ahp", "ahp/commandline", "ahp/history", "ahp/visible", "cmd/termhost/local/predict", "ptypool/keyboard",
		"ptypool/vt",
	}
}

// topLevel returns what the top of the repository may hold. Another folder
// needs a reason in the README, and a line here.
func topLevel() []string {
	return []string{
		".ci", ".git", ".gitattributes", ".gitignore", "README.md", "ahp", "authz", "cmd", "config.example.toml",
		"go.mod", "go.sum", "keys", "ptypool", "sshd",
	}
}

// source is one Go file of the module.
type source struct {
	pkg  string // folder below the module's root, such as "ahp/store"
	path string // below the module's root
	ast  *ast.File
	test bool
}

// sources parses the module's Go files, those for other systems included. It
// opens the files itself and does not ask the go command, because the result of a
// test is cached until a file changes that the test has opened.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	fset := token.NewFileSet()
	walk(t, func(name string) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			return
		}
		file, err := parser.ParseFile(fset, filepath.Join(moduleRoot, name), nil,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		if !isIgnored(file) {
			test := strings.HasSuffix(name, "_test.go")
			all = append(all, source{path.Dir(name), name, file, test})
		}
	})
	if len(all) == 0 {
		t.Fatal("found no Go files")
	}
	return all
}

// isIgnored reports whether a file is built only by naming it ("//go:build
// ignore"), as generators are: it is no part of its folder's package.
func isIgnored(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if expr, err := constraint.Parse(c.Text); err == nil && c.Pos() < file.Package {
				if tag, ok := expr.(*constraint.TagExpr); ok && tag.Tag == "ignore" {
					return true
				}
			}
		}
	}
	return false
}

// walk calls visit with the slash-separated name of every file of the
// repository, but for git's own and what .gitignore leaves out.
func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	ignored := ignorePatterns(t)
	err := fs.WalkDir(os.DirFS(moduleRoot), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case matchesAny(ignored, name):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			visit(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ignorePatterns returns the lines of .gitignore, which are plain patterns.
func ignorePatterns(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// matchesAny reports whether .gitignore's patterns leave name out: those that
// begin with a slash mean the top of the repository, others any folder.
func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		subject := path.Base(name)
		if top, ok := strings.CutPrefix(p, "/"); ok {
			p, subject = top, name
		}
		if ok, err := path.Match(strings.TrimSuffix(p, "/"), subject); ok && err == nil {
			return true
		}
	}
	return false
}

// ruleOf returns the package of mayImport that pkg is a part of, or "".
func ruleOf(pkg string) string {
	rules := mayImport()
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if _, ok := rules[pkg]; ok {
			return pkg
		}
	}
	return ""
}

// imports returns the import paths of a file.
func imports(f *ast.File) []string {
	var paths []string
	for _, spec := range f.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

func TestImportsRunDownwards(t *testing.T) {
	exists := map[string]bool{}
	for _, s := range sources(t) {
		exists[s.pkg] = true
		if s.test || s.pkg == "cmd/termhost" {
			continue // tests may put parts together as they like
		}
		rule := ruleOf(s.pkg)
		if rule == "" {
			t.Errorf("%s: package %s has no rule: give it one in mayImport, "+
				"and a reason in the README", s.path, s.pkg)
			continue
		}
		for _, p := range imports(s.ast) {
			of, ours := strings.CutPrefix(p, modulePath+"/")
			target := ruleOf(of)
			if ours && target != rule && !slices.Contains(mayImport()[rule], target) {
				t.Errorf("%s: %s must not import %s", s.path, s.pkg, of)
			}
		}
	}
	for pkg := range mayImport() {
		if !exists[pkg] {
			t.Errorf("mayImport has a rule for %s, which does not exist", pkg)
		}
	}
}

// TestImportsKeepTheServerOutOfTheClient follows the imports of what talks to a
// host from outside: it must not carry the server with it.
func TestImportsKeepTheServerOutOfTheClient(t *testing.T) {
	direct := map[string][]string{}
	for _, s := range sources(t) {
		if !s.test {
			for _, p := range imports(s.ast) {
				if of, ours := strings.CutPrefix(p, modulePath+"/"); ours {
					direct[s.pkg] = append(direct[s.pkg], of)
				}
			}
		}
	}
	for _, from := range outsiders() {
		seen := map[string]bool{}
		var follow func(pkg string, way []string)
		follow = func(pkg string, way []string) {
			if seen[pkg] {
				return
			}
			seen[pkg] = true
			way = append(slices.Clip(way), pkg)
			rule := ruleOf(pkg)
			if slices.Contains(serverSide(), rule) {
				t.Errorf("%s must not reach %s: %s", from, pkg, strings.Join(way, " -> "))
				return
			}
			for _, next := range direct[pkg] {
				follow(next, way)
			}
		}
		follow(from, nil)
	}
}

// laptops are the systems besides Linux for which the program is built.
func laptops() []string { return []string{"darwin", "freebsd"} }

// TestImportsKeepTheHostOnLinux follows the imports of the program where no host
// runs. What only Linux has is in the host's packages; .ci/cross compiles the rest.
func TestImportsKeepTheHostOnLinux(t *testing.T) {
	for _, system := range laptops() {
		built := build.Context{GOOS: system, GOARCH: "amd64", Compiler: "gc"}
		direct, reached := map[string][]string{}, map[string]bool{}
		for _, s := range sources(t) {
			dir, name := path.Split(path.Join(moduleRoot, s.path))
			ok, err := built.MatchFile(dir, name)
			if err != nil {
				t.Error(err)
			}
			for _, p := range imports(s.ast) {
				if of, ours := strings.CutPrefix(p, modulePath+"/"); ok && ours && !s.test {
					direct[s.pkg] = append(direct[s.pkg], of)
				}
			}
		}
		for pending := []string{"cmd/termhost"}; len(pending) > 0; pending = pending[1:] {
			for _, p := range direct[pending[0]] {
				if reached[p] {
					continue
				}
				reached[p] = true
				if slices.Contains(serverSide(), ruleOf(p)) {
					t.Errorf("%s: %s must not reach %s", system, pending[0], p)
					continue
				}
				pending = append(pending, p)
			}
		}
		for _, want := range outsiders() {
			if !reached[want] {
				t.Errorf("%s: the program lacks %s", system, want)
			}
		}
	}
}

func TestImportsOfWhatKnowsNoSSH(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !slices.Contains(knowNoSSH(), s.pkg) {
			continue
		}
		for _, p := range imports(s.ast) {
			if p == "charm.land/ssh" || strings.HasPrefix(p, "golang.org/x/crypto/ssh") {
				t.Errorf("%s: %s must not know %s", s.path, s.pkg, p)
			}
		}
	}
}

// testSupport are the packages that tests share.
func testSupport() []string {
	return []string{"ahp/ahptest", "ahp/hosttest", "ahp/hosttest/cable", "ahp/hosttest/slowtest",
		"ptypool/smalldisk", "sshd/viewertest"}
}

func TestNothingButTestsUsesWhatTestsShare(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || slices.Contains(testSupport(), s.pkg) {
			continue
		}
		for _, p := range imports(s.ast) {
			of, _ := strings.CutPrefix(p, modulePath+"/")
			if p == "testing" || slices.Contains(testSupport(), of) {
				t.Errorf("%s imports %s, which is for tests", s.path, p)
			}
		}
	}
}

// TestLayeringHasNoCycle keeps mayImport itself honest.
func TestLayeringHasNoCycle(t *testing.T) {
	rules := mayImport()
	var visit func(pkg string, above []string)
	visit = func(pkg string, above []string) {
		if slices.Contains(above, pkg) {
			t.Fatalf("the rules allow a cycle: %s", strings.Join(append(above, pkg), " -> "))
		}
		if _, ok := rules[pkg]; !ok {
			t.Errorf("%s allows %s, which has no rule", above[len(above)-1], pkg)
		}
		for _, next := range rules[pkg] {
			visit(next, append(slices.Clip(above), pkg))
		}
	}
	for pkg := range rules {
		visit(pkg, nil)
	}
}

func TestPurePackagesDoNoIOAndHaveNoClock(t *testing.T) {
	// Packages that reach the system, with all below them.
	deny := []string{
		"crypto/rand", "crypto/tls", "golang.org/x/sys", "golang.org/x/term", "io/fs", "io/ioutil",
		"log", "net", "os", "path/filepath", "plugin", "syscall", "testing",
	}
	allow := []string{"net/netip", "net/url"} // these only parse
	for _, s := range sources(t) {
		if s.test || !slices.Contains(pure(), ruleOf(s.pkg)) {
			continue
		}
		for _, p := range imports(s.ast) {
			denied := slices.ContainsFunc(deny, func(d string) bool {
				return p == d || strings.HasPrefix(p, d+"/")
			})
			if denied && !slices.Contains(allow, p) {
				t.Errorf("%s imports %s: this package does no I/O", s.path, p)
			}
		}
		for _, name := range clockUses(s.ast) {
			t.Errorf("%s uses time.%s: this package has no clock, its callers pass the time",
				s.path, name)
		}
	}
}

// clockUses returns the names of package time that a file uses and that read
// the clock or wait for it.
func clockUses(file *ast.File) []string {
	clock := []string{
		"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
	}
	local := ""
	for _, spec := range file.Imports {
		if spec.Path.Value == `"time"` {
			local = "time"
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	var used []string
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || local == "" || !slices.Contains(clock, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == local {
			used = append(used, sel.Sel.Name)
		}
		return true
	})
	return used
}

// TestEveryPatternOfAPeerCounts: an expression that a peer has sent is compiled by host.Conn.Pattern,
// which counts its memory.
func TestEveryPatternOfAPeerCounts(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.pkg == "ahp/history" || s.pkg == "ahp/host" {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, _ := sel.X.(*ast.Ident)
			if of == nil {
				return true
			}
			switch of.Name + "." + sel.Sel.Name {
			case "history.NewPattern", "regexp.Compile", "regexp.CompilePOSIX":
				t.Errorf("%s compiles an expression that counts for nobody", s.path)
			}
			return true
		})
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	docs := map[string]string{}
	names := map[string]string{}
	for _, s := range sources(t) {
		if !s.test {
			docs[s.pkg] += s.ast.Doc.Text()
			names[s.pkg] = s.ast.Name.Name
		}
	}
	for pkg, name := range names {
		begin := "Package " + name + " "
		if name == "main" {
			begin = "Command " + path.Base(pkg) + " "
		}
		if !strings.HasPrefix(docs[pkg], begin) {
			t.Errorf("%s has no package comment that begins with %q", pkg, begin)
		}
	}
}

// maxColumns is how wide a line of Go may be, in characters. A tab counts as 4 columns.
const maxColumns = 100

// TestDocsAndCodeKeepTo100Columns measures all Go files but tests, whose tables may be
// wider, and those that a program has written.
func TestDocsAndCodeKeepTo100Columns(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.ast) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(moduleRoot, s.path))
		if err != nil {
			t.Error(err)
			continue
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
			if n := utf8.RuneCountInString(line); n > maxColumns {
				t.Errorf("%s:%d has %d columns of %d", s.path, number, n, maxColumns)
			}
		}
	}
}

func TestTopLevelHoldsOnlyWhatTheDesignNames(t *testing.T) {
	entries, err := os.ReadDir(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	ignored := ignorePatterns(t)
	for _, e := range entries {
		if !slices.Contains(topLevel(), e.Name()) && !matchesAny(ignored, e.Name()) {
			t.Errorf("%s does not belong at the top of the repository", e.Name())
		}
	}
}

// TestNoFileNamesAPathOfThisMachine looks for the checkout's own folder, and
// for whatever else there is beside it, in every text file: such a path means
// nothing, or something else, anywhere else.
func TestNoFileNamesAPathOfThisMachine(t *testing.T) {
	root, err := filepath.Abs(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	parent, own := filepath.Dir(root)+"/", filepath.Base(root)
	if parent == "//" {
		t.Skip("a checkout in a folder of / has a path that may mean anything")
	}
	// Of folders that every machine has, only the checkout itself counts.
	everywhere := strings.HasPrefix(os.TempDir()+"/", parent)
	mention := regexp.MustCompile(`(?:^|[^\w.-])` + regexp.QuoteMeta(parent) + `(\w[\w.-]*)`)
	walk(t, func(name string) {
		text, err := os.ReadFile(filepath.Join(moduleRoot, name))
		if err != nil {
			t.Error(err)
			return
		}
		if !utf8.Valid(text) {
			return
		}
		for _, m := range mention.FindAllSubmatch(text, -1) {
			beside := string(m[1])
			if _, err := os.Lstat(parent + beside); err == nil && (beside == own || !everywhere) {
				t.Errorf("%s names %s%s, a path of this machine", name, parent, beside)
			}
		}
	})
}
