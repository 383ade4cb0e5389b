# Sums up what go test prints, with or without -v: the last lines of each test that failed and,
# last of all, which these are. A package that fails without naming a test, because it does not
# build, panics or takes too long, is summed up itself.
#
# go test tells whose a line is by the header before it: "=== NAME Test" or "--- FAIL: Test". The
# logs of hosts, lines of JSON or of key=value, are left out.

BEGIN {
	package = 0
	most = 40 # lines of one test
	room = 90 # lines of all together
}

/^ *=== (RUN|PAUSE|CONT|NAME) / {
	test = $3
	next
}

/^ *--- (PASS|FAIL|SKIP): / {
	test = $3
	if ($2 == "FAIL:") {
		failed[++n] = package SUBSEP test
		blamed++
	}
	next
}

# What the compiler says comes before all packages.
/^# / { test = "#" }

# The end of a package, tabs between status, name and time.
/^(ok|FAIL|\?) *\t/ {
	if ($1 == "FAIL" && !blamed)
		failed[++n] = package SUBSEP (/build failed|setup failed/ ? "#" : "")
	name[package++] = $2
	test = ""
	blamed = 0
	next
}

/^ *([{]"time":|time=[^ ]* level=)/ || /^(PASS|FAIL|exit status [0-9]+)$/ { next }

{
	keep(test == "#" ? "#" : package SUBSEP test)
	if (test != "" && test != "#")
		keep(package SUBSEP)
}

# keep keeps a line of a test, or of a package. Of a panic the beginning says most.
function keep(of) {
	text[of, ++lines[of]] = substr($0, 1, 300)
	if (!(of in panic) && /^(panic: |fatal error: |WARNING: DATA RACE)/)
		panic[of] = lines[of]
}

# owner is what has the lines of a failure.
function owner(failure,   parts) {
	split(failure, parts, SUBSEP)
	return parts[2] == "#" ? "#" : failure
}

# title is what a failure is called.
function title(failure,   parts) {
	split(failure, parts, SUBSEP)
	return name[parts[1]] " " (parts[2] == "#" ? "(does not build)" : parts[2])
}

# silent tells a test that failed only because one of its own tests has.
function silent(failure,   i) {
	for (i = 1; i <= n; i++)
		if (index(failed[i], failure "/") == 1)
			return 1
	return 0
}

END {
	for (i = 1; i <= n; i++)
		shown += !silent(failed[i])
	each = shown * most > room ? int(room / shown) : most
	for (i = 1; i <= n; i++) {
		if (silent(failed[i]))
			continue
		of = owner(failed[i])
		first = of in panic ? panic[of] : lines[of] - each + 1
		printf "\n== failed: %s\n", title(failed[i])
		for (j = first < 1 ? 1 : first; j <= lines[of] && j < first + each; j++)
			print text[of, j]
	}
	if (n)
		print "\nfailed tests:"
	for (i = 1; i <= n; i++)
		print "  " title(failed[i])
}
