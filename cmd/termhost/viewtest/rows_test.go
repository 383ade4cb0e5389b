package viewtest

// rows are the requests of one kind, by what the program calls them. Each is made by each audience.
type rows map[string][]string

// noRequest is a row of what comes by itself, while all other rows are tried, and is searched there.
var noRequest = []string{}

// verbRows are command lines. One that begins with "-t " has a terminal; behind " <" is what is
// typed there. One that ends with " &" goes on until it has printed something.
func verbRows() rows {
	return rows{
		"help":       {"help", "help asks"},
		"ls":         {"ls", "ls --json", "ls --json --all", "ls --wide", "ls --waiting"},
		"top":        {"-t top <q"},
		"hosts":      {"hosts", "hosts --json"},
		"new":        {"new -d -n own", "new -d -n typed", "new -d -n started -- echo"},
		"attach":     {"-t attach -r typed <\x1cd", "-t attach -r started <\x1cd", "-t attach typed <\x1cd", "attach -r typed &"},
		"run":        {"-t run -n hers -- true &"},
		"share":      {"share -n shared"},
		"log":        {"log typed", "log started", "log --raw typed", "log --json typed", "log --json started", "log --json first", "log --commands typed", "log --commands --json typed", "log --json -f typed &", "log --json --since 1h typed", "log --json -f started &"},
		"grep":       {"grep kan.rien typed", "grep kan.rien", "grep --command echo kan.rien"},
		"cast":       {"cast typed", "cast --v2 typed", "cast started"},
		"replay":     {"-t replay --idle 1ms typed <q"},
		"record":     {"record typed on"},
		"recordings": {"recordings", "recordings --json"},
		"peek":       {"peek typed", "peek --ansi started"},
		"send":       {"send typed x"},
		"drop":       {"drop typed"},
		"wait":       {"wait --blocked --timeout 10ms typed", "wait --blocked --timeout 10ms started", "wait --match kan.rien --timeout 10ms typed", "wait --blocked --timeout 1ms first"},
		"events":     noRequest, // all events are read meanwhile: see matrix.feed
		"invite":     {"invite --terminal typed"},
		"invites":    {"invites", "invites --json"},
		"who":        {"who", "who typed", "who --json typed", "who --json"},
		"kick":       {"kick typed alice"},
		"guard":      {"guard typed", "guard started on", "guard typed off"},
		"asks":       {"asks", "asks --json", "asks typed", "asks --json started"},
		"approve":    {"approve typed", "approve typed @2", "approve started", "approve first @1"},
		"refuse":     {"refuse typed", "refuse typed @2 no", "refuse first @1 no"},
		"status":     {"status typed", "status typed failed"},
		"label":      {"label typed", "label typed a=b"},
		"rename":     {"rename typed other"},
		"rm":         {"rm typed", "rm started"},
		"token":      {"token --name x", "token --revoke bot"},
		"tokens":     {"tokens"},
		"mcp":        {"mcp"},
		"page":       {"page", "page typed"},
		"notify":     {"notify --test"},
		"whoami":     {"whoami", "whoami --json"},
		"completion": {"completion bash"},
		"version":    {"version"},
	}
}

// methodRows are the params of AHP's methods.
func methodRows() rows {
	const typed, started, first = `"channel":"ahp-terminal:/typed"`, `"channel":"ahp-terminal:/started"`, `"channel":"ahp-terminal:/first"`
	channels := func(more string) []string {
		return []string{"{" + typed + more + "}", "{" + started + more + "}", "{" + first + more + "}"}
	}
	return rows{
		"initialize": {`{"channel":"ahp-root://","protocolVersions":["0.5.0"],"clientId":"again",` +
			`"initialSubscriptions":["ahp-terminal:/typed"]}`},
		"reconnect": {`{"channel":"ahp-root://","clientId":"again","lastSeenServerSeq":1,` +
			`"subscriptions":["ahp-root://","ahp-terminal:/typed","ahp-terminal:/started"]}`},
		"ping": {"{}"},
		"subscribe": append(channels(""), `{"channel":"ahp-root://"}`,
			"{"+typed+`,"_meta":{"termhost/screenFirst":{"scrollback":100,"commands":5}}}`),
		"unsubscribe":           {"{" + first + "}"},
		"dispatchAction":        channels(`,"clientSeq":1,"action":{"type":"terminal/input","data":"x"}`),
		"createTerminal":        channels(`,"claim":{"kind":"client","clientId":"again"}`),
		"disposeTerminal":       channels(""),
		"listSessions":          {"{}"},
		"action":                noRequest,
		"channel/frame":         {"{" + typed + `,"data":"x"}`},
		"channel/credit":        {"{" + typed + `,"consumedBytes":1}`},
		"channel/reset":         {"{" + first + "}"},
		"channel/snapshot":      noRequest,
		"channel/ready":         noRequest,
		"termhost/wait":         channels(`,"for":{"blocked":true,"match":"kan.rien"},"timeoutMs":20`),
		"termhost/history":      channels(""),
		"termhost/log":          append(channels(`,"form":"text"`), append(channels(`,"form":"raw"`), channels(`,"form":"cast"`)...)...),
		"termhost/screen":       channels(`,"scrollback":100`),
		"termhost/lines":        channels(`,"from":0,"count":100`),
		"termhost/find":         channels(`,"pattern":"kan.rien"`),
		"termhost/search":       {`{"pattern":"kan.rien"}`},
		"termhost/recordings":   {"{}"},
		"termhost/ask":          channels(""),
		"termhost/handBack":     channels(""),
		"termhost/guard":        channels(`,"on":false`),
		"termhost/picture":      channels(`,"picture":"aaaa"`),
		"termhost/drop":         channels(`,"data":"eA=="`),
		"termhost/held":         append(channels(""), channels(`,"ask":"@1"`)...),
		"termhost/approve":      append(channels(`,"ask":"@2","decision":"yes"`), channels(`,"ask":"@1","decision":"no","reason":"x"`)...),
		"termhost/status":       channels(`,"state":"failed"`),
		"termhost/label":        channels(`,"labels":{"a":"b"}`),
		"termhost/ack":          channels(`,"bytes":1`),
		"termhost/looking":      {`{"channel":"ahp-root://","terminals":["ahp-terminal:/typed","ahp-terminal:/started"]}`},
		"termhost/clipboard":    noRequest,
		"termhost/asked":        noRequest,
		"termhost/asks":         noRequest,
		"termhost/trustOver":    noRequest,
		"termhost/wanting":      noRequest,
		"termhost/groups":       noRequest,
		"termhost/hosts":        noRequest,
		"termhost/unsubscribed": noRequest,
		"termhost/proof":        noRequest,
		"termhost/created":      {`{"key":"x"}`},
		"termhost/permission":   {`{"terminalId":"typed","key":"x","title":"y"}`},
	}
}

// toolRows are the arguments of MCP's tools.
func toolRows() rows {
	return rows{
		"terminal_run":  {`{"command":"echo","wait_s":0}`, `{"command":"echo","terminal":"typed","wait_s":0}`},
		"terminal_open": {`{"name":"typed"}`, `{"name":"mine"}`},
		"terminal_read": {`{"terminal":"typed"}`, `{"terminal":"started","wait_s":1,"until":"kan.rien"}`, `{"terminal":"typed","view":"screen"}`, `{"terminal":"typed","view":"commands"}`, `{"terminal":"first"}`},
		"terminal_send": {`{"terminal":"typed","text":"x","wait_s":0}`, `{"terminal":"started","keys":["ctrl-c"],"wait_s":0}`},
		"terminal_list": {`{}`, `{"all":true}`},
		"terminal_stop": {`{"terminal":"typed"}`, `{"terminal":"started","how":"remove"}`},
	}
}

// mcpRows are the params of MCP's other methods.
func mcpRows() rows {
	return rows{
		"tools/list":               {`{}`},
		"resources/list":           {`{}`},
		"resources/templates/list": {`{}`},
		"resources/read":           {`{"uri":"termhost:///typed/screen"}`, `{"uri":"termhost:///started/screen"}`, `{"uri":"termhost:///typed/output"}`},
	}
}
