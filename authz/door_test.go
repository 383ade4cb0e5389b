package authz

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestDoorsAreAllThatHaveAName(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "door.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Door") {
			return true
		}
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		named = append(named, name)
		return true
	})
	var got []string
	for _, d := range Doors() {
		got = append(got, d.Name)
		if found, ok := DoorNamed(d.Name); !ok || found != d || d.How == "" {
			t.Errorf("the door %+v is %+v by its name", d, found)
		}
	}
	if !slices.Equal(got, named) {
		t.Errorf("the doors are %q, and those that have a name %q", got, named)
	}
	if d, ok := DoorNamed("window"); ok {
		t.Errorf("a window is the door %+v", d)
	}
}
