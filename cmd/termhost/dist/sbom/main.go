// Command sbom prints what a binary of termhost is made of, as SPDX 2.3 in JSON: Go's standard
// library, the modules that the linker has put into it, and what the page has from npm.
//
//	sbom -version v1.2.3 -page package.json BINARY
//
// It prints the same for the same binary, and refuses one that needs a dynamic linker, but on
// macOS: releases are static. SOURCE_DATE_EPOCH is the document's time.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// unknown is SPDX's word for what a document does not say.
const unknown = "NOASSERTION"

// document is an SPDX document: https://spdx.github.io/spdx-spec/v2.3/.
type document struct {
	Version     string         `json:"spdxVersion"`
	DataLicense string         `json:"dataLicense"`
	ID          string         `json:"SPDXID"`
	Name        string         `json:"name"`
	Namespace   string         `json:"documentNamespace"`
	Creation    creation       `json:"creationInfo"`
	Packages    []component    `json:"packages"`
	Relations   []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

// component is a package, as SPDX calls it.
type component struct {
	ID        string     `json:"SPDXID"`
	Name      string     `json:"name"`
	Version   string     `json:"versionInfo,omitempty"`
	Download  string     `json:"downloadLocation"`
	Analyzed  bool       `json:"filesAnalyzed"`
	Concluded string     `json:"licenseConcluded"`
	Declared  string     `json:"licenseDeclared"`
	Copyright string     `json:"copyrightText"`
	Purpose   string     `json:"primaryPackagePurpose"`
	Checksums []checksum `json:"checksums,omitempty"`
	Refs      []ref      `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

// ref is how others name a component: a package URL.
type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("sbom: ")
	version := flag.String("version", "", "of termhost")
	page := flag.String("page", "", "the page's `package.json`")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	d, err := describe(flag.Arg(0), *version, *page)
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.MarshalIndent(d, "", "\t")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
}

// describe returns what a binary of termhost is made of.
func describe(binary, version, page string) (*document, error) {
	if err := isStatic(binary); err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	sum, err := hash(binary)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	system, arch := setting(info, "GOOS"), setting(info, "GOARCH")
	npm, err := npmPackages(page)
	if err != nil {
		return nil, err
	}
	created, err := sourceDate()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("termhost-%s-%s-%s", strings.TrimPrefix(version, "v"), system, arch)
	d := &document{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name,
		Namespace: "https://spdx.org/spdxdocs/" + name + "-" + sum,
		Creation:  creation{created, []string{"Tool: termhost/cmd/termhost/dist/sbom"}},
	}
	self := newComponent("termhost", version)
	self.Purpose, self.Checksums = "APPLICATION", []checksum{{"SHA256", sum}}
	d.Packages = append(d.Packages, self)
	d.relate(d.ID, "DESCRIBES", self.ID)
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	d.contain(self.ID, newComponent("stdlib", goVersion), "pkg:golang/stdlib@"+goVersion)
	for _, m := range info.Deps {
		m = replaced(m)
		d.contain(self.ID, newComponent(m.Path, m.Version), "pkg:golang/"+m.Path+"@"+m.Version)
	}
	for _, name := range slices.Sorted(maps.Keys(npm)) {
		url := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + npm[name]
		d.contain(self.ID, newComponent(name, npm[name]), url)
	}
	return d, nil
}

// setting returns one of the settings that a binary was built with; "": it is not known.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// newComponent returns a library. Its licence is not looked into: the packages have its text.
func newComponent(name, version string) component {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-' // SPDX allows nothing else
	}, name)
	return component{
		ID: "SPDXRef-Package-" + id, Name: name, Version: version, Download: unknown,
		Concluded: unknown, Declared: unknown, Copyright: unknown, Purpose: "LIBRARY",
	}
}

// contain adds a component that the binary contains, which others know by a package URL.
func (d *document) contain(binary string, c component, url string) {
	c.Refs = []ref{{"PACKAGE-MANAGER", "purl", url}}
	d.Packages = append(d.Packages, c)
	d.relate(binary, "CONTAINS", c.ID)
}

func (d *document) relate(from, kind, to string) {
	d.Relations = append(d.Relations, relationship{from, kind, to})
}

// replaced returns the module that was built in m's place, if one was.
func replaced(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

// isStatic returns an error for a binary that names a dynamic linker.
func isStatic(path string) error {
	f, err := elf.Open(path)
	var format *elf.FormatError
	if errors.As(err, &format) {
		return nil // it is for macOS, where all programs need the system's library
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return errors.New("it needs a dynamic linker")
		}
	}
	return nil
}

// hash returns the SHA-256 of a file in hexadecimal digits.
func hash(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// npmPackages returns the versions of the packages that the page is made of, by name.
func npmPackages(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var p struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p.Dependencies, nil
}

// sourceDate returns the time of the source as SPDX wants it.
func sourceDate() (string, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return "", fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339), nil
}
