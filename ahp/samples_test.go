package ahp_test

import (
	"encoding/json"

	"termhost/ahp"
)

func sessionClaim() ahp.Claim {
	return ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s1", TurnID: "t1",
		ToolCallID: "c1"}
}

// sampleActions holds every kind of action, with and without its optional fields.
func sampleActions() []ahp.Action {
	return []ahp.Action{
		ahp.TerminalData{Data: []byte("\x1b[31mred\xff\u00e9\r\n")},
		ahp.TerminalInput{},
		ahp.TerminalOutput{Data: []byte("out")},
		ahp.TerminalResized{Cols: 80, Rows: 24},
		ahp.TerminalClaimed{Claim: ahp.ClientClaim("c1")},
		ahp.TerminalClaimed{Claim: sessionClaim()},
		ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s1"}},
		ahp.TerminalTitleChanged{Title: `a "title"`},
		ahp.TerminalCwdChanged{Cwd: "file:///tmp"},
		ahp.TerminalExited{ExitCode: ptr(137)},
		ahp.TerminalExited{},
		ahp.TerminalCleared{},
		ahp.TerminalCommandDetectionAvailable{},
		ahp.TerminalCommandExecuted{CommandID: "a-1", CommandLine: "true",
			Timestamp: 1700000000000},
		ahp.TerminalCommandExecuted{CommandID: "a-2", CommandLine: "make", By: "ann (claude)",
			Cwd: "file:///src"},
		ahp.TerminalCommandFinished{CommandID: "a-1", ExitCode: ptr(0), DurationMs: ptr(int64(5))},
		ahp.TerminalCommandFinished{CommandID: "a-1"},
		ahp.RootTerminalsChanged{},
		ahp.RootTerminalsChanged{Terminals: sampleList()},
		ahp.RootAgentsChanged{},
		ahp.RootActiveSessionsChanged{ActiveSessions: 2},
		ahp.RootConfigChanged{},
		ahp.RootConfigChanged{Replace: true,
			Config: map[string]json.RawMessage{"theme": json.RawMessage(`"dark"`)}},
	}
}

func sampleList() []ahp.TerminalInfo {
	return []ahp.TerminalInfo{
		{Resource: "ahp-terminal:/a", Title: "bash", Claim: ahp.ClientClaim("c1")},
		{Resource: "ahp-terminal:/b", Title: "make", Claim: sessionClaim(), Exited: true,
			ExitCode: ptr(2)},
		{Resource: "ahp-terminal:/c", Title: "gone", Claim: ahp.ClientClaim("c2"), Exited: true,
			Client: true},
	}
}

// sampleTerminals holds states with and without every optional field.
func sampleTerminals() []ahp.TerminalState {
	return []ahp.TerminalState{
		{Title: "bash", Claim: ahp.ClientClaim("c1"), IsPty: true},
		{
			Title: "make", Cwd: "file:///src", Cols: 80, Rows: 24, Claim: sessionClaim(),
			IsPty: true, Detection: true, Exited: true, ExitCode: ptr(2), Client: true,
			Meta: json.RawMessage(`{"termhost":{}}`),
			Content: []ahp.Part{
				{Text: ahp.NewText([]byte("$ "))},
				{Text: ahp.NewText([]byte("no rule\r\n")), Command: &ahp.Command{ID: "m-1",
					Line: "make", Timestamp: 1700000000000, Complete: true, ExitCode: ptr(2),
					DurationMs: ptr(int64(9)), By: "ann", Cwd: "file:///src"}},
				{Command: &ahp.Command{ID: "m-2", Line: "sleep 1", Timestamp: 1700000000001}},
			},
		},
		{Title: "lost", Claim: ahp.ClientClaim("c1"), Exited: true},
	}
}

func sampleRoots() []ahp.RootState {
	return []ahp.RootState{
		{},
		{ActiveSessions: ptr(0), Terminals: sampleList(), Config: json.RawMessage(
			`{"schema":{"type":"object","properties":{}},"values":{}}`)},
	}
}
