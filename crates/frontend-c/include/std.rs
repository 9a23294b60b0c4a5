//! What takes the place of `std` when programs in Rust are verified. All of `std` is there as it is, but for
//! `std::thread` and what threads wait for each other with, whose bodies a toolchain has only as machine code:
//! these are here, for the locks and threads that the verifier knows. Nothing synchronises more than the
//! documentation of `std` promises, and no lock is ever poisoned, since a panic is what is looked for.
#![no_std]
#![allow(clippy::all)]
#![feature(negative_impls, thread_local)]

extern crate std as real;

pub use real::*;

/// The locks and threads of POSIX, as the verifier has them: eight bytes each.
mod posix {
    pub type Word = real::cell::UnsafeCell<[u32; 2]>;

    unsafe extern "C" {
        pub fn pthread_create(
            out: *mut u64,
            attributes: *const u8,
            start: extern "C" fn(*mut u8) -> *mut u8,
            argument: *mut u8,
        ) -> i32;
        pub fn pthread_join(thread: u64, out: *mut *mut u8) -> i32;
        pub fn pthread_detach(thread: u64) -> i32;
        pub fn pthread_self() -> u64;
        pub fn pthread_mutex_lock(mutex: *mut [u32; 2]) -> i32;
        pub fn pthread_mutex_trylock(mutex: *mut [u32; 2]) -> i32;
        pub fn pthread_mutex_unlock(mutex: *mut [u32; 2]) -> i32;
        pub fn pthread_cond_wait(cond: *mut [u32; 2], mutex: *mut [u32; 2]) -> i32;
        pub fn pthread_cond_timedwait(
            cond: *mut [u32; 2],
            mutex: *mut [u32; 2],
            time: *const u8,
        ) -> i32;
        pub fn pthread_cond_signal(cond: *mut [u32; 2]) -> i32;
        pub fn pthread_cond_broadcast(cond: *mut [u32; 2]) -> i32;
        pub fn pthread_rwlock_rdlock(lock: *mut [u32; 2]) -> i32;
        pub fn pthread_rwlock_wrlock(lock: *mut [u32; 2]) -> i32;
        pub fn pthread_rwlock_tryrdlock(lock: *mut [u32; 2]) -> i32;
        pub fn pthread_rwlock_trywrlock(lock: *mut [u32; 2]) -> i32;
        pub fn pthread_rwlock_unlock(lock: *mut [u32; 2]) -> i32;
        /// Nobody defines it: where it is called the answer is unknown, by its name.
        pub fn try_send_to_a_channel_without_room() -> i32;
    }
}

pub mod thread {
    pub use real::thread::{AccessError, LocalKey, Result, panicking};

    use super::posix;
    use real::boxed::Box;
    use real::cell::{Cell, UnsafeCell};
    use real::marker::PhantomData;
    use real::prelude::v1::*;
    use real::sync::Arc;
    use real::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
    use real::time::{Duration, Instant};
    use real::{fmt, io, num, ptr, string};

    /// What a thread is known by, and a place for `unpark` to leave word.
    #[derive(Clone)]
    pub struct Thread(Arc<Inner>);

    struct Inner {
        number: Cell<u64>,
        name: Option<string::String>,
        token: AtomicU32,
    }

    // The number is written before anybody else knows of the thread, or by the thread itself.
    unsafe impl Send for Inner {}
    unsafe impl Sync for Inner {}

    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub struct ThreadId(u64);

    #[thread_local]
    static CURRENT: Cell<*const Inner> = Cell::new(ptr::null());

    fn inner(name: Option<string::String>) -> Arc<Inner> {
        Arc::new(Inner { number: Cell::new(0), name, token: AtomicU32::new(0) })
    }

    impl Thread {
        pub fn id(&self) -> ThreadId {
            ThreadId(self.0.number.get())
        }

        pub fn name(&self) -> Option<&str> {
            self.0.name.as_deref()
        }

        pub fn unpark(&self) {
            self.0.token.store(1, Ordering::Release);
        }
    }

    impl fmt::Debug for Thread {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Thread")
        }
    }

    pub fn current() -> Thread {
        let known = CURRENT.get();
        if known.is_null() {
            let new = inner(None);
            new.number.set(unsafe { posix::pthread_self() });
            // It is kept for as long as the program runs.
            CURRENT.set(Arc::into_raw(new.clone()));
            return Thread(new);
        }
        unsafe {
            Arc::increment_strong_count(known);
            Thread(Arc::from_raw(known))
        }
    }

    pub fn park() {
        let me = current();
        while me.0.token.load(Ordering::Acquire) == 0 {}
        me.0.token.swap(0, Ordering::Acquire);
    }

    pub fn park_timeout(_time: Duration) {
        current().0.token.swap(0, Ordering::Acquire);
    }

    pub fn yield_now() {}

    pub fn sleep(_time: Duration) {}

    pub fn sleep_until(_time: Instant) {}

    pub fn available_parallelism() -> io::Result<num::NonZeroUsize> {
        Ok(num::NonZeroUsize::new(4).unwrap())
    }

    struct Packet<T> {
        result: UnsafeCell<Option<T>>,
    }

    unsafe impl<T: Send> Send for Packet<T> {}
    unsafe impl<T: Send> Sync for Packet<T> {}

    /// All that a thread is started with.
    struct Start<F, T> {
        body: F,
        packet: Arc<Packet<T>>,
        thread: Option<Arc<Inner>>,
        running: *const AtomicUsize,
    }

    extern "C" fn run<F: FnOnce() -> T, T>(argument: *mut u8) -> *mut u8 {
        let start = unsafe { Box::from_raw(argument as *mut Start<F, T>) };
        let Start { body, packet, thread, running } = *start;
        if let Some(thread) = thread {
            CURRENT.set(Arc::into_raw(thread));
        }
        let result = body();
        unsafe { *packet.result.get() = Some(result) };
        drop(packet);
        if !running.is_null() {
            unsafe { (*running).fetch_sub(1, Ordering::Release) };
        }
        ptr::null_mut()
    }

    struct Handle<T> {
        native: u64,
        packet: Arc<Packet<T>>,
        thread: Thread,
    }

    unsafe fn start<F: FnOnce() -> T, T>(
        body: F,
        name: Option<string::String>,
        running: *const AtomicUsize,
    ) -> Handle<T> {
        let packet = Arc::new(Packet { result: UnsafeCell::new(None) });
        let thread = inner(name);
        let (copy, known) = (packet.clone(), Some(thread.clone()));
        let start = Box::new(Start { body, packet: copy, thread: known, running });
        let mut native = 0;
        unsafe {
            let start = Box::into_raw(start) as *mut u8;
            posix::pthread_create(&mut native, ptr::null(), run::<F, T>, start);
        }
        thread.number.set(native);
        Handle { native, packet, thread: Thread(thread) }
    }

    impl<T> Handle<T> {
        fn join(mut self) -> Result<T> {
            unsafe {
                posix::pthread_join(self.native, ptr::null_mut());
            }
            self.native = 0;
            let result = unsafe { (*self.packet.result.get()).take() };
            match result {
                Some(result) => Ok(result),
                None => unreachable!(),
            }
        }
    }

    impl<T> Drop for Handle<T> {
        fn drop(&mut self) {
            if self.native != 0 {
                unsafe { posix::pthread_detach(self.native) };
            }
        }
    }

    pub struct JoinHandle<T>(Handle<T>);

    unsafe impl<T> Send for JoinHandle<T> {}
    unsafe impl<T> Sync for JoinHandle<T> {}

    impl<T> JoinHandle<T> {
        pub fn join(self) -> Result<T> {
            self.0.join()
        }

        pub fn thread(&self) -> &Thread {
            &self.0.thread
        }

        pub fn is_finished(&self) -> bool {
            Arc::strong_count(&self.0.packet) == 1
        }
    }

    impl<T> fmt::Debug for JoinHandle<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("JoinHandle")
        }
    }

    pub fn spawn<F, T>(body: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        JoinHandle(unsafe { start(body, None, ptr::null()) })
    }

    #[derive(Debug, Default)]
    pub struct Builder {
        name: Option<string::String>,
    }

    impl Builder {
        pub fn new() -> Builder {
            Builder { name: None }
        }

        pub fn name(self, name: string::String) -> Builder {
            Builder { name: Some(name) }
        }

        pub fn stack_size(self, _size: usize) -> Builder {
            self
        }

        pub fn spawn<F, T>(self, body: F) -> io::Result<JoinHandle<T>>
        where
            F: FnOnce() -> T + Send + 'static,
            T: Send + 'static,
        {
            Ok(JoinHandle(unsafe { start(body, self.name, ptr::null()) }))
        }

        pub fn spawn_scoped<'scope, 'env, F, T>(
            self,
            scope: &'scope Scope<'scope, 'env>,
            body: F,
        ) -> io::Result<ScopedJoinHandle<'scope, T>>
        where
            F: FnOnce() -> T + Send + 'scope,
            T: Send + 'scope,
        {
            Ok(scope.start(body, self.name))
        }
    }

    pub struct Scope<'scope, 'env: 'scope> {
        running: AtomicUsize,
        scope: PhantomData<&'scope mut &'scope ()>,
        env: PhantomData<&'env mut &'env ()>,
    }

    pub struct ScopedJoinHandle<'scope, T>(Handle<T>, PhantomData<&'scope ()>);

    unsafe impl<T> Send for ScopedJoinHandle<'_, T> {}
    unsafe impl<T> Sync for ScopedJoinHandle<'_, T> {}

    pub fn scope<'env, F, T>(body: F) -> T
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    {
        let scope =
            Scope { running: AtomicUsize::new(0), scope: PhantomData, env: PhantomData };
        let result = body(&scope);
        while scope.running.load(Ordering::Acquire) != 0 {}
        result
    }

    impl<'scope, 'env> Scope<'scope, 'env> {
        pub fn spawn<F, T>(&'scope self, body: F) -> ScopedJoinHandle<'scope, T>
        where
            F: FnOnce() -> T + Send + 'scope,
            T: Send + 'scope,
        {
            self.start(body, None)
        }

        fn start<F, T>(
            &'scope self,
            body: F,
            name: Option<string::String>,
        ) -> ScopedJoinHandle<'scope, T>
        where
            F: FnOnce() -> T + Send + 'scope,
            T: Send + 'scope,
        {
            self.running.fetch_add(1, Ordering::Relaxed);
            ScopedJoinHandle(unsafe { start(body, name, &self.running) }, PhantomData)
        }
    }

    impl<T> ScopedJoinHandle<'_, T> {
        pub fn join(self) -> Result<T> {
            self.0.join()
        }

        pub fn thread(&self) -> &Thread {
            &self.0.thread
        }

        pub fn is_finished(&self) -> bool {
            Arc::strong_count(&self.0.packet) == 1
        }
    }
}

pub mod sync {
    pub use real::sync::*;

    use super::posix::{self, Word};
    use real::cell::UnsafeCell;
    use real::marker::PhantomData;
    use real::ops::{Deref, DerefMut};
    use real::prelude::v1::*;
    use real::sync::atomic::{AtomicU8, Ordering};
    use real::time::Duration;
    use real::{fmt, panic};

    /// Keeps what has it from being sent.
    type Stays = PhantomData<*const ()>;

    pub struct Mutex<T: ?Sized> {
        word: Word,
        data: UnsafeCell<T>,
    }

    unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
    unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
    impl<T: ?Sized> panic::UnwindSafe for Mutex<T> {}
    impl<T: ?Sized> panic::RefUnwindSafe for Mutex<T> {}

    pub struct MutexGuard<'a, T: ?Sized + 'a> {
        mutex: &'a Mutex<T>,
        stays: Stays,
    }

    unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

    impl<T> Mutex<T> {
        pub const fn new(data: T) -> Mutex<T> {
            Mutex { word: Word::new([0; 2]), data: UnsafeCell::new(data) }
        }

        pub fn into_inner(self) -> LockResult<T> {
            Ok(self.data.into_inner())
        }
    }

    impl<T: ?Sized> Mutex<T> {
        pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            unsafe { posix::pthread_mutex_lock(self.word.get()) };
            Ok(MutexGuard { mutex: self, stays: PhantomData })
        }

        pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
            match unsafe { posix::pthread_mutex_trylock(self.word.get()) } {
                0 => Ok(MutexGuard { mutex: self, stays: PhantomData }),
                _ => Err(TryLockError::WouldBlock),
            }
        }

        pub fn is_poisoned(&self) -> bool {
            false
        }

        pub fn clear_poison(&self) {}

        pub fn get_mut(&mut self) -> LockResult<&mut T> {
            Ok(self.data.get_mut())
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Mutex<T> {
            Mutex::new(T::default())
        }
    }

    impl<T> From<T> for Mutex<T> {
        fn from(data: T) -> Mutex<T> {
            Mutex::new(data)
        }
    }

    impl<T: ?Sized> fmt::Debug for Mutex<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Mutex")
        }
    }

    impl<T: ?Sized> Deref for MutexGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            unsafe { &*self.mutex.data.get() }
        }
    }

    impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            unsafe { &mut *self.mutex.data.get() }
        }
    }

    impl<T: ?Sized> Drop for MutexGuard<'_, T> {
        fn drop(&mut self) {
            unsafe { posix::pthread_mutex_unlock(self.mutex.word.get()) };
        }
    }

    impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (**self).fmt(f)
        }
    }

    impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            (**self).fmt(f)
        }
    }

    pub struct Condvar {
        word: Word,
    }

    unsafe impl Send for Condvar {}
    unsafe impl Sync for Condvar {}
    impl panic::UnwindSafe for Condvar {}
    impl panic::RefUnwindSafe for Condvar {}

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct WaitTimeoutResult(bool);

    impl WaitTimeoutResult {
        pub fn timed_out(&self) -> bool {
            self.0
        }
    }

    impl Condvar {
        pub const fn new() -> Condvar {
            Condvar { word: Word::new([0; 2]) }
        }

        pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
            unsafe { posix::pthread_cond_wait(self.word.get(), guard.mutex.word.get()) };
            Ok(guard)
        }

        pub fn wait_while<'a, T, F: FnMut(&mut T) -> bool>(
            &self,
            mut guard: MutexGuard<'a, T>,
            mut condition: F,
        ) -> LockResult<MutexGuard<'a, T>> {
            while condition(&mut *guard) {
                guard = self.wait(guard)?;
            }
            Ok(guard)
        }

        pub fn wait_timeout<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            _time: Duration,
        ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
            let (cond, mutex) = (self.word.get(), guard.mutex.word.get());
            let code = unsafe { posix::pthread_cond_timedwait(cond, mutex, real::ptr::null()) };
            Ok((guard, WaitTimeoutResult(code != 0)))
        }

        pub fn wait_timeout_while<'a, T, F: FnMut(&mut T) -> bool>(
            &self,
            mut guard: MutexGuard<'a, T>,
            time: Duration,
            mut condition: F,
        ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
            loop {
                if !condition(&mut *guard) {
                    return Ok((guard, WaitTimeoutResult(false)));
                }
                let (next, late) = self.wait_timeout(guard, time)?;
                guard = next;
                if late.timed_out() {
                    let late = condition(&mut *guard);
                    return Ok((guard, WaitTimeoutResult(late)));
                }
            }
        }

        pub fn notify_one(&self) {
            unsafe { posix::pthread_cond_signal(self.word.get()) };
        }

        pub fn notify_all(&self) {
            unsafe { posix::pthread_cond_broadcast(self.word.get()) };
        }
    }

    impl Default for Condvar {
        fn default() -> Condvar {
            Condvar::new()
        }
    }

    impl fmt::Debug for Condvar {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Condvar")
        }
    }

    pub struct RwLock<T: ?Sized> {
        word: Word,
        data: UnsafeCell<T>,
    }

    unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
    unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
    impl<T: ?Sized> panic::UnwindSafe for RwLock<T> {}
    impl<T: ?Sized> panic::RefUnwindSafe for RwLock<T> {}

    pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
        lock: &'a RwLock<T>,
        stays: Stays,
    }

    pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
        lock: &'a RwLock<T>,
        stays: Stays,
    }

    unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
    unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

    impl<T> RwLock<T> {
        pub const fn new(data: T) -> RwLock<T> {
            RwLock { word: Word::new([0; 2]), data: UnsafeCell::new(data) }
        }

        pub fn into_inner(self) -> LockResult<T> {
            Ok(self.data.into_inner())
        }
    }

    impl<T: ?Sized> RwLock<T> {
        pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
            unsafe { posix::pthread_rwlock_rdlock(self.word.get()) };
            Ok(RwLockReadGuard { lock: self, stays: PhantomData })
        }

        pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
            unsafe { posix::pthread_rwlock_wrlock(self.word.get()) };
            Ok(RwLockWriteGuard { lock: self, stays: PhantomData })
        }

        pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
            match unsafe { posix::pthread_rwlock_tryrdlock(self.word.get()) } {
                0 => Ok(RwLockReadGuard { lock: self, stays: PhantomData }),
                _ => Err(TryLockError::WouldBlock),
            }
        }

        pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
            match unsafe { posix::pthread_rwlock_trywrlock(self.word.get()) } {
                0 => Ok(RwLockWriteGuard { lock: self, stays: PhantomData }),
                _ => Err(TryLockError::WouldBlock),
            }
        }

        pub fn is_poisoned(&self) -> bool {
            false
        }

        pub fn get_mut(&mut self) -> LockResult<&mut T> {
            Ok(self.data.get_mut())
        }
    }

    impl<T: Default> Default for RwLock<T> {
        fn default() -> RwLock<T> {
            RwLock::new(T::default())
        }
    }

    impl<T: ?Sized> fmt::Debug for RwLock<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("RwLock")
        }
    }

    impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            unsafe { &*self.lock.data.get() }
        }
    }

    impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            unsafe { &*self.lock.data.get() }
        }
    }

    impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            unsafe { &mut *self.lock.data.get() }
        }
    }

    impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
        fn drop(&mut self) {
            unsafe { posix::pthread_rwlock_unlock(self.lock.word.get()) };
        }
    }

    impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
        fn drop(&mut self) {
            unsafe { posix::pthread_rwlock_unlock(self.lock.word.get()) };
        }
    }

    /// Nobody has run it (0), or it has been run (1). Who runs it holds the mutex.
    pub struct Once {
        done: AtomicU8,
        mutex: Mutex<()>,
    }

    #[derive(Debug)]
    pub struct OnceState(());

    impl OnceState {
        pub fn is_poisoned(&self) -> bool {
            false
        }
    }

    impl Once {
        pub const fn new() -> Once {
            Once { done: AtomicU8::new(0), mutex: Mutex::new(()) }
        }

        pub fn call_once<F: FnOnce()>(&self, body: F) {
            if self.is_completed() {
                return;
            }
            let _guard = self.mutex.lock();
            if self.done.load(Ordering::Relaxed) == 0 {
                body();
                self.done.store(1, Ordering::Release);
            }
        }

        pub fn call_once_force<F: FnOnce(&OnceState)>(&self, body: F) {
            self.call_once(|| body(&OnceState(())));
        }

        pub fn is_completed(&self) -> bool {
            self.done.load(Ordering::Acquire) != 0
        }

        pub fn wait(&self) {
            while !self.is_completed() {}
        }
    }

    impl fmt::Debug for Once {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Once")
        }
    }

    pub struct OnceLock<T> {
        once: Once,
        value: UnsafeCell<Option<T>>,
    }

    unsafe impl<T: Send> Send for OnceLock<T> {}
    unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

    impl<T> OnceLock<T> {
        pub const fn new() -> OnceLock<T> {
            OnceLock { once: Once::new(), value: UnsafeCell::new(None) }
        }

        pub fn get(&self) -> Option<&T> {
            match self.once.is_completed() {
                true => unsafe { (*self.value.get()).as_ref() },
                false => None,
            }
        }

        pub fn get_mut(&mut self) -> Option<&mut T> {
            self.value.get_mut().as_mut()
        }

        pub fn set(&self, value: T) -> Result<(), T> {
            let mut value = Some(value);
            self.get_or_init(|| value.take().unwrap());
            match value {
                None => Ok(()),
                Some(value) => Err(value),
            }
        }

        pub fn get_or_init<F: FnOnce() -> T>(&self, make: F) -> &T {
            self.once.call_once(|| {
                let value = make();
                unsafe { *self.value.get() = Some(value) };
            });
            unsafe { (*self.value.get()).as_ref().unwrap() }
        }

        pub fn wait(&self) -> &T {
            self.once.wait();
            unsafe { (*self.value.get()).as_ref().unwrap() }
        }

        pub fn into_inner(self) -> Option<T> {
            self.value.into_inner()
        }

        pub fn take(&mut self) -> Option<T> {
            self.once = Once::new();
            self.value.get_mut().take()
        }
    }

    impl<T> Default for OnceLock<T> {
        fn default() -> OnceLock<T> {
            OnceLock::new()
        }
    }

    impl<T> fmt::Debug for OnceLock<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("OnceLock")
        }
    }

    pub struct LazyLock<T, F = fn() -> T> {
        value: OnceLock<T>,
        make: UnsafeCell<Option<F>>,
    }

    unsafe impl<T: Send, F: Send> Send for LazyLock<T, F> {}
    unsafe impl<T: Send + Sync, F: Send> Sync for LazyLock<T, F> {}

    impl<T, F: FnOnce() -> T> LazyLock<T, F> {
        pub const fn new(make: F) -> LazyLock<T, F> {
            LazyLock { value: OnceLock::new(), make: UnsafeCell::new(Some(make)) }
        }

        pub fn force(this: &LazyLock<T, F>) -> &T {
            this.value.get_or_init(|| match unsafe { (*this.make.get()).take() } {
                Some(make) => make(),
                None => unreachable!(),
            })
        }
    }

    impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
        type Target = T;
        fn deref(&self) -> &T {
            LazyLock::force(self)
        }
    }

    pub struct Barrier {
        state: Mutex<(usize, usize)>,
        turn: Condvar,
        count: usize,
    }

    #[derive(Debug)]
    pub struct BarrierWaitResult(bool);

    impl BarrierWaitResult {
        pub fn is_leader(&self) -> bool {
            self.0
        }
    }

    impl Barrier {
        pub const fn new(count: usize) -> Barrier {
            Barrier { state: Mutex::new((0, 0)), turn: Condvar::new(), count }
        }

        pub fn wait(&self) -> BarrierWaitResult {
            let mut state = self.state.lock().unwrap();
            let turn = state.1;
            state.0 += 1;
            if state.0 < self.count {
                while state.1 == turn {
                    state = self.turn.wait(state).unwrap();
                }
                return BarrierWaitResult(false);
            }
            state.0 = 0;
            state.1 = turn.wrapping_add(1);
            self.turn.notify_all();
            BarrierWaitResult(true)
        }
    }

    /// Queues as linked lists: who sends takes the place at the end by a swap, and links its node to the one
    /// before then. Those that receive, and those that wait for room, look again and again.
    pub mod mpsc {
        pub use real::sync::mpsc::{
            RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError,
        };

        use real::boxed::Box;
        use real::cell::Cell;
        use real::prelude::v1::*;
        use real::sync::Arc;
        use real::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
        use real::time::Duration;
        use real::{fmt, ptr};

        use super::posix;

        struct Node<T> {
            value: Option<T>,
            next: AtomicPtr<Node<T>>,
        }

        struct Queue<T> {
            /// The last node that was taken out; the receiver's.
            first: Cell<*mut Node<T>>,
            last: AtomicPtr<Node<T>>,
            senders: AtomicUsize,
            is_left: AtomicBool,
            /// How many have been received, where somebody may wait for room.
            received: AtomicUsize,
            sent: AtomicUsize,
            room: Option<usize>,
        }

        unsafe impl<T: Send> Send for Queue<T> {}
        unsafe impl<T: Send> Sync for Queue<T> {}

        impl<T> Queue<T> {
            fn new(room: Option<usize>) -> Arc<Queue<T>> {
                let node = Queue::node(None);
                Arc::new(Queue {
                    first: Cell::new(node),
                    last: AtomicPtr::new(node),
                    senders: AtomicUsize::new(1),
                    is_left: AtomicBool::new(false),
                    received: AtomicUsize::new(0),
                    sent: AtomicUsize::new(0),
                    room,
                })
            }

            fn node(value: Option<T>) -> *mut Node<T> {
                Box::into_raw(Box::new(Node { value, next: AtomicPtr::new(ptr::null_mut()) }))
            }

            fn push(&self, value: T) {
                let node = Queue::node(Some(value));
                let before = self.last.swap(node, Ordering::AcqRel);
                unsafe { (*before).next.store(node, Ordering::Release) };
            }

            /// The receiver's alone.
            fn pop(&self) -> Option<T> {
                let first = self.first.get();
                let next = unsafe { (*first).next.load(Ordering::Acquire) };
                if next.is_null() {
                    return None;
                }
                self.first.set(next);
                let value = unsafe {
                    drop(Box::from_raw(first));
                    (*next).value.take()
                };
                if self.room.is_some() {
                    self.received.fetch_add(1, Ordering::Release);
                }
                value
            }

            /// A number for a value, if there is room for it.
            fn reserve(&self, room: usize) -> Option<usize> {
                let mut sent = self.sent.load(Ordering::Relaxed);
                loop {
                    let received = self.received.load(Ordering::Acquire);
                    if sent.wrapping_sub(received) >= room.max(1) {
                        return None;
                    }
                    let next = sent.wrapping_add(1);
                    let (relaxed, weak) = (Ordering::Relaxed, Ordering::Relaxed);
                    match self.sent.compare_exchange(sent, next, relaxed, weak) {
                        Ok(_) => return Some(next),
                        Err(other) => sent = other,
                    }
                }
            }
        }

        impl<T> Drop for Queue<T> {
            fn drop(&mut self) {
                let mut node = self.first.get();
                while !node.is_null() {
                    let it = unsafe { Box::from_raw(node) };
                    node = it.next.load(Ordering::Relaxed);
                }
            }
        }

        pub struct Sender<T>(Arc<Queue<T>>);

        pub struct SyncSender<T>(Arc<Queue<T>>);

        pub struct Receiver<T>(Arc<Queue<T>>);

        unsafe impl<T: Send> Send for Receiver<T> {}
        impl<T> !Sync for Receiver<T> {}

        pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
            let queue = Queue::new(None);
            (Sender(queue.clone()), Receiver(queue))
        }

        pub fn sync_channel<T>(room: usize) -> (SyncSender<T>, Receiver<T>) {
            let queue = Queue::new(Some(room));
            (SyncSender(queue.clone()), Receiver(queue))
        }

        impl<T> Sender<T> {
            pub fn send(&self, value: T) -> Result<(), SendError<T>> {
                if self.0.is_left.load(Ordering::Acquire) {
                    return Err(SendError(value));
                }
                self.0.push(value);
                Ok(())
            }
        }

        impl<T> SyncSender<T> {
            pub fn send(&self, value: T) -> Result<(), SendError<T>> {
                let room = self.0.room.unwrap_or(0);
                let number = loop {
                    if self.0.is_left.load(Ordering::Acquire) {
                        return Err(SendError(value));
                    }
                    if let Some(number) = self.0.reserve(room) {
                        break number;
                    }
                };
                self.0.push(value);
                // Without any room, it is handed over.
                if room == 0 {
                    loop {
                        let received = self.0.received.load(Ordering::Acquire);
                        if received.wrapping_sub(number) as isize >= 0
                            || self.0.is_left.load(Ordering::Acquire)
                        {
                            break;
                        }
                    }
                }
                Ok(())
            }

            pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
                if self.0.is_left.load(Ordering::Acquire) {
                    return Err(TrySendError::Disconnected(value));
                }
                let room = self.0.room.unwrap_or(0);
                if room == 0 {
                    // Whether a receiver waits at this moment is not known here.
                    return match unsafe { posix::try_send_to_a_channel_without_room() } {
                        0 => Err(TrySendError::Full(value)),
                        _ => self.send(value).map_err(|SendError(it)| TrySendError::Disconnected(it)),
                    };
                }
                match self.0.reserve(room) {
                    Some(_) => {
                        self.0.push(value);
                        Ok(())
                    }
                    None => Err(TrySendError::Full(value)),
                }
            }
        }

        impl<T> Clone for Sender<T> {
            fn clone(&self) -> Sender<T> {
                self.0.senders.fetch_add(1, Ordering::Relaxed);
                Sender(self.0.clone())
            }
        }

        impl<T> Clone for SyncSender<T> {
            fn clone(&self) -> SyncSender<T> {
                self.0.senders.fetch_add(1, Ordering::Relaxed);
                SyncSender(self.0.clone())
            }
        }

        impl<T> Drop for Sender<T> {
            fn drop(&mut self) {
                self.0.senders.fetch_sub(1, Ordering::Release);
            }
        }

        impl<T> Drop for SyncSender<T> {
            fn drop(&mut self) {
                self.0.senders.fetch_sub(1, Ordering::Release);
            }
        }

        impl<T> Drop for Receiver<T> {
            fn drop(&mut self) {
                self.0.is_left.store(true, Ordering::Release);
            }
        }

        impl<T> Receiver<T> {
            pub fn recv(&self) -> Result<T, RecvError> {
                loop {
                    match self.try_recv() {
                        Ok(value) => return Ok(value),
                        Err(TryRecvError::Disconnected) => return Err(RecvError),
                        Err(TryRecvError::Empty) => {}
                    }
                }
            }

            pub fn try_recv(&self) -> Result<T, TryRecvError> {
                if let Some(value) = self.0.pop() {
                    return Ok(value);
                }
                if self.0.senders.load(Ordering::Acquire) != 0 {
                    return Err(TryRecvError::Empty);
                }
                self.0.pop().ok_or(TryRecvError::Disconnected)
            }

            pub fn recv_timeout(&self, _time: Duration) -> Result<T, RecvTimeoutError> {
                self.try_recv().map_err(|error| match error {
                    TryRecvError::Empty => RecvTimeoutError::Timeout,
                    TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
                })
            }

            pub fn iter(&self) -> Iter<'_, T> {
                Iter(self)
            }

            pub fn try_iter(&self) -> TryIter<'_, T> {
                TryIter(self)
            }
        }

        pub struct Iter<'a, T>(&'a Receiver<T>);

        pub struct TryIter<'a, T>(&'a Receiver<T>);

        pub struct IntoIter<T>(Receiver<T>);

        impl<T> Iterator for Iter<'_, T> {
            type Item = T;
            fn next(&mut self) -> Option<T> {
                self.0.recv().ok()
            }
        }

        impl<T> Iterator for TryIter<'_, T> {
            type Item = T;
            fn next(&mut self) -> Option<T> {
                self.0.try_recv().ok()
            }
        }

        impl<T> Iterator for IntoIter<T> {
            type Item = T;
            fn next(&mut self) -> Option<T> {
                self.0.recv().ok()
            }
        }

        impl<'a, T> IntoIterator for &'a Receiver<T> {
            type Item = T;
            type IntoIter = Iter<'a, T>;
            fn into_iter(self) -> Iter<'a, T> {
                self.iter()
            }
        }

        impl<T> IntoIterator for Receiver<T> {
            type Item = T;
            type IntoIter = IntoIter<T>;
            fn into_iter(self) -> IntoIter<T> {
                IntoIter(self)
            }
        }

        impl<T> fmt::Debug for Sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("Sender")
            }
        }

        impl<T> fmt::Debug for SyncSender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("SyncSender")
            }
        }

        impl<T> fmt::Debug for Receiver<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("Receiver")
            }
        }
    }
}
