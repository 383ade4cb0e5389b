package verbs

import "flag"

// defineRemove disposes terminals, or deletes recordings, by their whole names.
func defineRemove(fs *flag.FlagSet) func(*invocation) int {
	recordings := fs.Bool("recording", false, "what is named are recordings, which are deleted")
	return func(v *invocation) int { return v.remove(*recordings) }
}

func (v *invocation) remove(recordings bool) int {
	status, remove := StatusOK, v.Host.DisposeNamed
	if recordings {
		remove = v.Host.RemoveRecording
	}
	for _, name := range v.args {
		if err := remove(v.principal(), name); err != nil {
			status = v.failed(err)
		}
	}
	return status
}
