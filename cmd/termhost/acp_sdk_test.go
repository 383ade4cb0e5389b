package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"termhost/ahp/hosttest/slowtest"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestACPBetweenSDKs tells the stories of testdata/acp with editors and agents that are made with
// the official TypeScript SDK and with the Go SDK.
func TestACPBetweenSDKs(t *testing.T) {
	slow(t)
	t.Parallel()
	sdk := installTypeScriptSDK(t)
	node := func(file, args string) string {
		return fmt.Sprintf("node %s %s", filepath.Join(sdk, file), args)
	}
	tsEditor, tsAgent := node("editor.mjs", ""), node("agent.mjs", "")
	const goEditor, goAgent = "acpeditor", "acpagent"
	for name, programs := range map[string]map[string]string{
		"ts editor, ts agent": {"editor": tsEditor, "agent": tsAgent},
		"ts editor, go agent": {"editor": tsEditor, "agent": goAgent},
		"go editor, ts agent": {"editor": goEditor, "agent": tsAgent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tellACP(t, "sdk.txtar", programs)
		})
	}
	t.Run("a host that does not come back", func(t *testing.T) {
		t.Parallel()
		tellACP(t, "gone.txtar", map[string]string{"ts-editor": tsEditor, "ts-agent": tsAgent,
			"go-editor": goEditor, "go-agent": goAgent})
	})
	t.Run("version 2", func(t *testing.T) {
		t.Parallel()
		tellACP(t, "v2.txtar", map[string]string{"v2": node("v2.mjs", "")})
	})
}

// tellACP runs a script of testdata/acp with programs, each a line of shell that
// takes more arguments.
func tellACP(t *testing.T, script string, programs map[string]string) {
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata/acp", script)},
		Setup: func(env *testscript.Env) error {
			if err := setupScript(env); err != nil {
				return err
			}
			for name, line := range programs {
				text := "#!/bin/sh\nexec " + line + " \"$@\"\n"
				file := filepath.Join(env.WorkDir, "bin", name)
				if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
					return err
				}
			}
			return nil
		},
		RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"serve": cmdServe, "halt": cmdHalt,
		},
	})
}

// installTypeScriptSDK returns a folder with the SDK and the programs made with
// it. Without what that takes the test is missing.
func installTypeScriptSDK(t *testing.T) string {
	t.Helper()
	slowtest.Programs(t, "node", "npm", "make")
	dir := t.TempDir()
	for _, name := range []string{"package.json", "agent.mjs", "editor.mjs", "v2.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata/acp", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	npm := exec.Command("npm", "install",
		"--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		slowtest.Missing(t, "npm install: %v\n%s", err, out)
	}
	return dir
}
