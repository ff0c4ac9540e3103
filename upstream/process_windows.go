package upstream

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"github.com/rs/zerolog"
	"golang.org/x/sys/windows"
)

// family is a child and its descendants in a job object, which nothing can leave. The job ends with its last handle, so
// all of it dies with us however we end.
type family struct {
	log zerolog.Logger

	mu     sync.Mutex
	job    windows.Handle // 0: not created, or all is over
	reaped bool
}

func newFamily(_ *childPipes, log zerolog.Logger) *family { return &family{log: log} }

// attributes: suspended, so that it starts nothing before it is in the job; a group of its own, so that Ctrl-C on our
// console is ours to handle.
func (f *family) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
}

func (f *family) started(child *os.Process) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	job, err := newJob()
	if err != nil {
		return fmt.Errorf("create a job object: %w", err)
	}
	f.job = job
	handleErr := child.WithHandle(func(handle uintptr) {
		err = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	if err = firstError(handleErr, err); err != nil {
		return fmt.Errorf("put the process into a job object: %w", err)
	}
	return resume(uint32(child.Pid))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		windows.CloseHandle(job)
	}
	return job, err
}

// resume starts the threads of a suspended process: it has one, and os does not keep its handle.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list the threads: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID == pid {
			return resumeThread(entry.ThreadID)
		}
	}
	return fmt.Errorf("find the first thread: %w", err)
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return fmt.Errorf("open the first thread: %w", err)
	}
	defer windows.CloseHandle(thread)
	if _, err = windows.ResumeThread(thread); err != nil {
		return fmt.Errorf("resume the first thread: %w", err)
	}
	return nil
}

// parentGone ends the job: a survivor would hold the pipes open, and reading from a pipe knows no deadline here.
func (f *family) parentGone() {
	f.mu.Lock()
	f.reaped = true
	f.mu.Unlock()
	f.killOnce()
}

func (f *family) look()       {}
func (f *family) pids() []int { return []int{} }

// terminate kills: there is no signal to ask with.
func (f *family) terminate() { f.killOnce() }

func (f *family) killOnce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.job == 0 {
		return
	}
	if err := windows.TerminateJobObject(f.job, 1); err != nil {
		f.log.Warn().Err(err).Msg("cannot end the job of the upstream")
	}
}

// jobAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type jobAccounting struct {
	userTime, kernelTime, periodUserTime, periodKernelTime int64
	pageFaults, processes, active, terminated              uint32
}

func (f *family) settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.job == 0 {
		return true
	}
	var now jobAccounting
	err := windows.QueryInformationJobObject(f.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&now)), uint32(unsafe.Sizeof(now)), nil)
	return f.reaped && err == nil && now.active == 0
}

// forget closes the job, which ends whatever is in it.
func (f *family) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.job != 0 {
		windows.CloseHandle(f.job)
		f.job = 0
	}
}

// readNow is not reached: pipes know no deadline here.
func readNow(*os.File, []byte) (int, error) { return 0, io.EOF }

// lookUp searches our own PATH and PATHEXT.
func (c Command) lookUp(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return name, err
	}
	return path, nil
}
