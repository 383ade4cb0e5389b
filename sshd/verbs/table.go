package verbs

import (
	"flag"
	"strings"

	"termhost/authz"
)

// verb describes `ssh HOST VERB`. Its help, and the messages after a mistake, are made from this.
type verb struct {
	name  string
	group group
	brief string // what it does, for the list of all verbs: at most briefColumn cells
	usage string // what follows the name
	help  string // one line
	// examples are useful command lines.
	examples []string
	// terminal: the verb needs a terminal at the peer's end, that is ssh -t.
	terminal bool
	// input: the verb reads standard input. keys: it does so if that is a terminal. Other verbs
	// discard it.
	input, keys bool
	// needs is what the peer must be permitted to do, at least; the host decides. Zero: nothing.
	needs authz.Verb
	// names are the words that are NAMEs of terminals, which may be on another host.
	names naming
	// everywhere: without NAMEs it is about the terminals of all hosts.
	everywhere bool
	// personal: it makes, or lists, what lets somebody in, which another host cannot ask for.
	personal bool
	// least and most bound the number of words beside the flags; most is -1 for any number.
	least, most int
	// pattern is the flag whose value is a regular expression; "": there is none. patternFirst: the
	// first word beside the flags is one.
	pattern      string
	patternFirst bool
	// text: what follows the first NAME is text to type, as the peer has written it.
	text bool
	// parse parses the command line of a verb with rules of its own; nil: the general ones apply.
	parse func(*invocation) (status int, done bool)
	// define adds the verb's flags, each with its help, to a set, and returns the function that
	// runs the verb with them and returns the exit status.
	define func(*flag.FlagSet) (run func(*invocation) int)
}

// group is a heading of `help`.
type group string

const (
	lookGroup   group = "look"
	typeGroup   group = "type"
	agentsGroup group = "agents"
	peopleGroup group = "people"
	keepGroup   group = "keep"
	helpGroup   group = "help"
)

// groups returns them in the order of `help`.
func groups() []group {
	return []group{lookGroup, typeGroup, agentsGroup, peopleGroup, keepGroup, helpGroup}
}

// table returns the verbs, those of a group in the order of `help`.
func table() []verb {
	return []verb{
		{
			name: "help", group: helpGroup, brief: "this, or what VERB does",
			usage: "[VERB]", help: "show this, or explain one of them",
			most: 1, define: defineHelp,
			examples: []string{"ssh HOST help send"},
		}, {
			name: "ls", group: lookGroup, brief: "the terminals",
			usage: "[--json] [--all | --wide] [--running] [--waiting] [--exited]" +
				" [-l SEL] [BOX...]",
			help:  "list the terminals, in a fleet those of all hosts, or of BOX",
			needs: authz.List, most: -1, define: defineList,
			examples: []string{
				"ssh HOST ls",
				"ssh HOST ls -l project=web,stage!=prod",
				"ssh HOST ls --json | jq -r '.[] | select(.state == \"running\").name'",
			},
		}, {
			name: "top", group: lookGroup, brief: "all of them, live",
			usage: "[-l SEL]",
			help: "show the terminals on one screen that is live, first those that want you, and" +
				" below them what one prints or asks: Enter attaches and comes back, y and n" +
				" answer, s types a line, x ends, ? shows the other keys, q leaves",
			terminal: true, input: true,
			needs: authz.List, define: defineTop,
			examples: []string{"ssh -t HOST top", "ssh -t HOST top -l project=web"},
		}, {
			name: "hosts", group: helpGroup, brief: "the fleet's hosts",
			usage: "[--json]",
			help: "list the hosts of the fleet:" +
				" `ssh HOST VERB BOX/NAME` reaches a terminal of BOX",
			needs: authz.List, define: defineHosts,
			examples: []string{"ssh HOST hosts"},
		}, {
			name: "new", group: typeGroup, brief: "a terminal for a command",
			usage: "[--on BOX|LABEL,...] [-n NAME] [-C DIR] [-d] [--guard] [--record]" +
				" [--label K=V]... [-- CMD ARGS...]",
			help:     "make a terminal and attach to it (-d: print its NAME instead)",
			terminal: true, input: true, needs: authz.Create,
			parse: (*invocation).parseNew, define: defineNew,
			examples: []string{
				"ssh -t HOST new -n build -C ~/src -- make -j4",
				"ssh HOST new -d -n server -- ./serve",
			},
		}, attachVerb(), {
			name: "run", group: typeGroup, brief: "a command on pipes",
			usage: "[--on BOX|LABEL,...] [-n NAME] [-C DIR] [--keep] [--record] [--] CMD ARGS...",
			help: "run a command on pipes, where it ends with the connection, or with ssh -t" +
				" in a terminal, and exit with its status (128+n for signal n); 255: the" +
				" connection or the host is lost",
			input: true, needs: authz.Create,
			parse: (*invocation).parseRun, define: defineRun,
			examples: []string{
				"ssh HOST run -- make -C src test",
				"tar c . | ssh HOST run -- tar x -C /tmp",
				"ssh -t HOST run -- vim notes",
			},
		}, {
			name: "share", group: typeGroup, brief: "your output, for others",
			usage: "[--on BOX|LABEL,...] [-n NAME] [--cols N --rows N] [--raw]",
			help: "show standard input as a terminal that others watch" +
				" (--raw: it is a terminal's own output)",
			input: true, needs: authz.Create,
			parse: (*invocation).parseShare, define: defineShare,
			examples: []string{"make 2>&1 | ssh HOST share -n build"},
		}, {
			name: "log", group: lookGroup, brief: "what one has printed",
			usage: "[--text|--raw|--json|--commands [--json]] [--last|--command N|--since TIME]" +
				" [--tail N] [-f] NAME | --look NAME",
			help: "what a terminal has printed (--look: in a reader, with ssh -t)",
			keys: true, names: namesFirst, needs: authz.Read, least: 1, most: 1, define: defineLog,
			examples: []string{"ssh HOST log --last build", "ssh HOST log --since 10m -f build",
				"ssh HOST log --commands build", "ssh -t HOST log --look build"},
		}, {
			name: "grep", group: lookGroup, brief: "lines of all that match",
			usage: "[-i] [-C N] [--command TEXT] [-l SEL] PATTERN [NAME...]",
			help: "print the lines that match PATTERN of what terminals have printed, those named" +
				" or all, as NAME:TIME:line",
			keys: true, names: namesRest, everywhere: true,
			needs: authz.Read, least: 1, most: -1, patternFirst: true,
			define: defineGrep,
			examples: []string{"ssh HOST grep -i 'error|failed'",
				"ssh HOST grep -C 3 --command 'go test' FAIL build"},
		}, {
			name: "cast", group: keepGroup, brief: "one as asciicast",
			usage: "[--v2] NAME|REC",
			help: "print what a terminal has shown, or a recording, as asciicast, which asciinema" +
				" plays",
			names: namesFirst, needs: authz.Read, least: 1, most: 1, define: defineCast,
			examples: []string{"ssh HOST cast --v2 build | asciinema play -"},
		}, {
			name: "replay", group: keepGroup, brief: "plays what one has shown",
			usage: "[--speed N] [--idle D] NAME|REC",
			help: "play what a terminal has shown, or a recording, in your terminal:" +
				" space stops it, arrows seek, n and p go to a command, / searches, [ looks" +
				" through its lines, q quits",
			terminal: true, input: true,
			names: namesFirst, needs: authz.Read, least: 1, most: 1, define: defineReplay,
			examples: []string{"ssh -t HOST replay --idle 2s build"},
		}, {
			name: "record", group: keepGroup, brief: "records one from now on",
			usage: "NAME on|off",
			help: "record all that a terminal shows from now on, or no longer;" +
				" what is typed is never recorded",
			names: namesFirst, needs: authz.Record, least: 2, most: 2, define: defineRecord,
			examples: []string{"ssh HOST record build on"},
		}, {
			name: "recordings", group: keepGroup, brief: "the recordings",
			usage: "[--json]", help: "list the recordings",
			needs: authz.List, define: defineRecordings,
			examples: []string{"ssh HOST recordings"},
		}, {
			name: "peek", group: lookGroup, brief: "one's screen now",
			usage: "[--ansi] NAME", help: "what a terminal's screen shows now",
			names: namesFirst, needs: authz.Read, least: 1, most: 1, define: definePeek,
			examples: []string{"ssh HOST peek build"},
		}, {
			name: "send", group: typeGroup, brief: "types keys into one",
			usage: "[--enter] [--key KEY]... NAME [TEXT...|-] [-- TEXT]",
			help: "type TEXT as it is written, or with - what comes on standard input, then" +
				" the KEYs (up, ctrl-c, alt-x, f5 ...), then with --enter Enter, into a terminal",
			input: true, text: true, names: namesFirst, needs: authz.Input,
			parse: (*invocation).parseSend, define: defineSend,
			examples: []string{
				"ssh HOST send --enter build make test",
				"ssh HOST send --key ctrl-c build",
				"ssh HOST send build - <script",
				"ssh HOST send build -- --not-a-flag",
			},
		}, {
			name: "drop", group: typeGroup, brief: "gives one a file",
			usage: "[--as FILE] NAME",
			help: "keep what comes on standard input, at most 10 MiB, as a file for a terminal's" +
				" program, paste its path there, without Enter, and print it; the file goes with" +
				" the terminal, or after a day",
			input: true, names: namesFirst,
			needs: authz.Input, least: 1, most: 1, define: defineDrop,
			examples: []string{"ssh HOST drop --as screen.png agent < screen.png"},
		}, {
			name: "wait", group: lookGroup, brief: "until one ends, asks ...",
			usage: "[--match REGEX] [--idle D] [--command] [--blocked] [--all] [--timeout D]" +
				" NAME... | -l SEL",
			help: "wait for a line, a pause, a command, a question or the end of the first NAME" +
				" (--all: the last), print which if there are several," +
				" and exit with its status; 255: the connection or the host is lost",
			names: namesAll, needs: authz.Wait, most: -1, pattern: "match",
			define: defineWait,
			examples: []string{
				"ssh HOST wait build",
				"ssh HOST wait --match '[0-9]+ passed' --timeout 5m build",
				"ssh HOST wait --blocked --command build",
				"ssh HOST wait --all build test",
			},
		}, {
			name: "events", group: lookGroup, brief: "what happens, as it does",
			usage: "[--json] [-l SEL] [NAME...]",
			help: "tell what happens to terminals, and who did it, until the connection ends:" +
				" a line for each that is made, exits, waits for somebody, changes hands ...",
			keys: true, names: namesAll, everywhere: true,
			needs: authz.List, most: -1, define: defineEvents,
			examples: []string{
				"ssh HOST events build",
				"ssh HOST events --json | jq --unbuffered 'select(.event == \"waits\")'",
			},
		}, {
			name: "invite", group: peopleGroup, brief: "a guest, to one terminal",
			usage: "--terminal NAME [--role ROLE] [--ttl 1h] [--once]" +
				" [--github USER | --key FILE | --page [--url URL]] [GUEST] | --revoke GUEST",
			help: "let a guest without a key here see, and with ROLE operator use, the terminals" +
				" named; prints the guest's ssh line, or the link to the page",
			input: true, personal: true, needs: authz.Invite, most: 1, define: defineInvite,
			examples: []string{"ssh HOST invite --terminal build bob",
				"ssh HOST invite --terminal build --role operator --once --ttl 30m",
				"ssh HOST invite --terminal build --key - bob < bob.pub",
				"ssh HOST invite --revoke bob"},
		}, {
			name: "invites", group: peopleGroup, brief: "the invitations",
			usage: "[--json]", help: "list the invitations that you may end",
			personal: true, needs: authz.Invite, define: defineInvites,
			examples: []string{"ssh HOST invites"},
		}, {
			name: "who", group: peopleGroup, brief: "who watches what",
			usage: "[--json] [NAME]",
			help:  "who watches a terminal, or without NAME which of all, in a fleet of all hosts",
			names: namesFirst, needs: authz.Read, most: 1, define: defineWho,
			examples: []string{"ssh HOST who", "ssh HOST who build"},
		}, {
			name: "kick", group: peopleGroup, brief: "ends what one watches",
			usage: "NAME WHO",
			help: "end what WHO, a name that `who` lists, sees of a terminal;" +
				" one that has a key may come back, a guest's invitation ends",
			names: namesFirst, needs: authz.Kick, least: 2, most: 2, define: defineKick,
			examples: []string{"ssh HOST kick build bob"},
		}, {
			name: "guard", group: agentsGroup, brief: "has them ask you first",
			usage: "NAME [on|off]",
			help: "have what agents type into a terminal wait for a person's approval," +
				" or no longer",
			names: namesFirst, needs: authz.Approve, least: 1, most: 2, define: defineGuard,
			examples: []string{"ssh HOST guard build", "ssh HOST guard build off"},
		}, {
			name: "asks", group: agentsGroup, brief: "what they want to type",
			usage: "[--json] [NAME...]", help: "list what agents want to type",
			everywhere: true, names: namesAll, needs: authz.List, most: -1, define: defineAsks,
			examples: []string{"ssh HOST asks", "ssh HOST asks build"},
		}, {
			name: "approve", group: agentsGroup, brief: "lets them",
			usage: "NAME [@N]",
			help: "type what an agent wants to type: the ask @N, or the first of those that" +
				" `asks` has shown you last",
			names: namesFirst, needs: authz.Approve, least: 1, most: 2, define: defineApprove,
			examples: []string{"ssh HOST approve build @7", "ssh HOST approve build"},
		}, {
			name: "refuse", group: agentsGroup, brief: "does not, and says why",
			usage: "NAME [@N] [REASON...]",
			help:  "refuse what an agent wants to type, as `approve` types it, and tell it REASON",
			names: namesFirst, needs: authz.Approve, least: 1, most: -1, define: defineRefuse,
			examples: []string{"ssh HOST refuse build @7 not on a Friday"},
		}, {
			name: "status", group: agentsGroup, brief: "how one says it stands",
			usage: "[--about WHAT] [--program] NAME [working|waiting|done|failed [TEXT...]]",
			help: "say how the program of a terminal stands, for people, or print what it has" +
				" said; `termhost status` inside a terminal says it of that one",
			names: namesFirst, needs: authz.List, least: 1, most: -1,
			parse: (*invocation).parseStatus, define: defineStatus,
			examples: []string{"ssh HOST status build failed 3 tests fail",
				"ssh HOST status build"},
		}, {
			name: "label", group: lookGroup, brief: "labels, to sort them by",
			usage: "NAME [K=V | K-]...",
			help: "set labels of a terminal, or take them away, or print them;" +
				" with -l SEL other verbs find terminals by them",
			names: namesFirst, needs: authz.List, least: 1, most: -1, define: defineLabel,
			examples: []string{"ssh HOST label build project=web stage-"},
		}, {
			name: "rename", group: typeGroup, brief: "gives one another NAME",
			usage: "NAME NEW",
			help: "give a terminal another NAME; the old one leads to it as long as no other has" +
				" it",
			names: namesFirst, needs: authz.Name, least: 2, most: 2, define: defineRename,
			examples: []string{"ssh HOST rename sh-3 build"},
		}, {
			name: "rm", group: typeGroup, brief: "ends terminals",
			usage: "NAME... | -l SEL | --exited | --recording REC...",
			help:  "end terminals and forget them, or delete recordings",
			names: namesAll, needs: authz.Dispose, least: 0, most: -1, define: defineRemove,
			examples: []string{"ssh HOST rm build test"},
		}, {
			name: "token", group: agentsGroup, brief: "a key for one",
			usage: "[--name NAME] [--role ROLE] [--ttl 8h] [--may-type-secrets]" +
				" | --revoke NAME",
			help:     "make a bearer token for AHP, or end one",
			personal: true, needs: authz.MintToken, define: defineToken,
			examples: []string{
				"ssh HOST token --name agent --ttl 8h",
				"ssh HOST token --revoke agent",
			},
		}, {
			name: "tokens", group: agentsGroup, brief: "those that you made",
			help:     "list your tokens",
			personal: true, needs: authz.ListTokens, define: defineTokens,
			examples: []string{"ssh HOST tokens"},
		}, {
			name: "mcp", group: agentsGroup, brief: "MCP, on stdin and stdout",
			usage: "[--as NAME] [-C DIR]",
			help: "speak MCP, whose tools are these terminals, with the program that runs" +
				" this; `termhost mcp` connects again when the connection is lost",
			input: true, personal: true, needs: authz.Subsystem, define: defineMCP,
			examples: []string{"ssh HOST mcp", "ssh HOST mcp --as reviewer -C ~/project"},
		}, {
			name: "page", group: peopleGroup, brief: "a URL for your browser",
			usage: "[--url URL] [--role ROLE] [--qr] [--stay] [NAME...]",
			help: "print a URL that opens the terminals in a browser; it works once, within a" +
				" minute",
			personal: true, needs: authz.OpenPage, most: -1, define: definePage,
			examples: []string{"ssh HOST page", "ssh HOST page --url http://127.0.0.1:7722/ build",
				"ssh HOST page --qr --url https://box.example.com/"},
		}, {
			name: "notify", group: peopleGroup, brief: "tests your notifications",
			usage: "--test",
			help: "send a test to where you are told, while you are away, that a terminal wants" +
				" you: see [[notify]] of the configuration",
			needs: authz.Create, define: defineNotify,
			examples: []string{"ssh HOST notify --test"},
		}, {
			name: "whoami", group: peopleGroup, brief: "who you are here",
			usage: "[--json]", help: "show who you are here", define: defineWhoami,
			examples: []string{"ssh HOST whoami --json"},
		}, {
			name: "completion", group: helpGroup, brief: "for your shell's Tab",
			usage: "bash|zsh|fish [ALIAS...]",
			help:  "print a shell's completion for `ssh ALIAS VERB`; it says where to put it",
			least: 1, most: -1, define: defineCompletion,
			examples: []string{"ssh HOST completion bash th >~/.termhost.bash"},
		}, {
			name: "version", group: helpGroup, brief: "the version",
			help: "print the version of termhost", define: defineVersion,
			examples: []string{"ssh HOST version"},
		},
	}
}

// who lists the roles that may use the verb; "": any.
func (c verb) who() string {
	if c.needs == 0 {
		return ""
	}
	var roles []string
	for role := authz.Observer; role <= authz.Admin; role++ {
		p := authz.Principal{ID: "key", Fingerprint: "key", Role: role}
		// The terminal is the peer's own: only the role can refuse.
		t := authz.Target{Executor: authz.Server, Holds: true, TokenRole: authz.Observer}
		if authz.Check(p, c.needs, t) == nil {
			roles = append(roles, role.String()+"s")
		}
	}
	if len(roles) > int(authz.Admin-authz.Observer) {
		return ""
	}
	return strings.Join(roles, " and ")
}
