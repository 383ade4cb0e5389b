// Package curves is for tests only: it measures what an operation costs among many terminals, with
// many subscribers and beside much scrollback. The parts are real: a host with its store and its
// journal, peers that are served AHP, programs on ptys where terminals are created.
//
//	go test ./ahp/hosttest/curves -run '^$' -bench Curve          the measurements
//	go test ./ahp/hosttest/curves -run TestCurves -curves DIR     also as DIR/curves.md and .svg
//
// The other tests are guards. TestWhatIsSentStaysFlat counts what peers are sent. TestMeasuresCosts
// counts allocations, which are those of the whole process: see slowtest.Measures.
package curves
