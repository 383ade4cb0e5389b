// Package service is what makes the host a service of the system around it: it keeps to the memory
// of its cgroup, tells the service manager when it is ready, and is supervised as process 1 of a
// container. It knows nothing of the host itself.
package service
