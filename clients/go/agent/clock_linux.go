package agent

import (
	"syscall"
	"time"
	"unsafe"
)

const clockBoottime = 7

// It counts the time that the machine sleeps, which the clock of package time does not.
func clock() time.Duration {
	var at syscall.Timespec
	if _, _, failed := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&at)), 0); failed != 0 {
		return time.Since(started)
	}
	return time.Duration(at.Nano())
}
