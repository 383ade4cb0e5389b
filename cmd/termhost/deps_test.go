package main

import (
	"go/ast"
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
// the same rule, and both may import each other. cmd/termhost may import
// everything.
func mayImport() map[string][]string {
	door := []string{"ahp", "ahp/host", "ahp/rpc", "ahp/store", "authz", "keys", "ptypool", "ptypool/vt"}
	return map[string][]string{
		"ahp":        nil,
		"keys":       nil,
		"ptypool/vt": nil,
		"authz":      {"keys"},
		"ahp/store":  {"ahp"},
		"ptypool":    {"ptypool/vt"},
		"ahp/host":   {"ahp", "ahp/store", "authz", "keys", "ptypool", "ptypool/vt"},
		"ahp/rpc":    {"ahp", "ahp/host", "ahp/store", "authz", "keys", "ptypool", "ptypool/vt"},
		"ahp/client": {"ahp", "ahp/rpc"},
		"ahp/acp":    append(door, "ahp/client"),
		"ahp/ws":     door,
		"sshd":       door,
	}
}

// pure are the packages that do no I/O and have no clock, so that the wire's
// reducers and the screen depend on their input alone.
func pure() []string { return []string{"ahp", "ptypool/vt"} }

// topLevel returns what the top of the repository may hold. Another folder
// needs a reason in the README, and a line here.
func topLevel() []string {
	return []string{
		".ci", ".git", ".gitignore", "README.md", "ahp", "authz", "cmd", "config.example.toml",
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
// opens the files itself, rather than to ask the go command, because a test's
// result is cached until a file it has opened changes.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	fset := token.NewFileSet()
	walk(t, func(name string) {
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			return
		}
		file, err := parser.ParseFile(fset, filepath.Join(moduleRoot, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		if !isIgnored(file) {
			all = append(all, source{path.Dir(name), name, file, strings.HasSuffix(name, "_test.go")})
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
	for _, s := range sources(t) {
		if s.test || s.pkg == "cmd/termhost" || strings.HasPrefix(s.pkg, "cmd/termhost/") {
			continue // tests may put parts together as they like
		}
		rule := ruleOf(s.pkg)
		if rule == "" {
			t.Errorf("%s: package %s has no rule: give it one in mayImport, and a reason in the README", s.path, s.pkg)
			continue
		}
		for _, p := range imports(s.ast) {
			of, ours := strings.CutPrefix(p, modulePath+"/")
			if target := ruleOf(of); ours && target != rule && !slices.Contains(mayImport()[rule], target) {
				t.Errorf("%s: %s must not import %s", s.path, s.pkg, of)
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
			denied := slices.ContainsFunc(deny, func(d string) bool { return p == d || strings.HasPrefix(p, d+"/") })
			if denied && !slices.Contains(allow, p) {
				t.Errorf("%s imports %s: this package does no I/O", s.path, p)
			}
		}
		for _, name := range clockUses(s.ast) {
			t.Errorf("%s uses time.%s: this package has no clock, its callers pass the time", s.path, name)
		}
	}
}

// clockUses returns the names of package time that a file uses and that read
// the clock or wait for it.
func clockUses(file *ast.File) []string {
	clock := []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}
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
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && local != "" && x.Name == local && slices.Contains(clock, sel.Sel.Name) {
				used = append(used, sel.Sel.Name)
			}
		}
		return true
	})
	return used
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
	// Of folders that every machine has, only the checkout itself counts.
	everywhere := parent == "//" || strings.HasPrefix(os.TempDir()+"/", parent)
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
