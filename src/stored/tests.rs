//! Sessions that leave memory and are restored.

mod leaving {
    use std::fs;
    use std::path::Path;

    use super::super::*;
    use rulestep_base::session::Body;
    use rulestep_recording as recording;

    /// Bytes in memory in place of a file.
    #[derive(Default)]
    struct Shelf(Mutex<Vec<u8>>);

    impl ByteStore for Arc<Shelf> {
        fn put(&self, bytes: &[u8]) -> io::Result<u64> {
            let mut shelf = self.0.lock().unwrap();
            shelf.extend(bytes);
            Ok((shelf.len() - bytes.len()) as u64)
        }

        fn get(&self, place: u64, length: usize) -> io::Result<Vec<u8>> {
            let shelf = self.0.lock().unwrap();
            let bytes = shelf.get(place as usize..place as usize + length);
            Ok(bytes.ok_or(io::ErrorKind::UnexpectedEof)?.to_vec())
        }
    }

    /// A shelf that is full.
    struct Full;

    impl ByteStore for Full {
        fn put(&self, _: &[u8]) -> io::Result<u64> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn get(&self, _: u64, _: usize) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    /// The recordings of every format that come with the tests, and those of the samples.
    fn recordings() -> Vec<Session> {
        fn walk(folder: &Path, found: &mut Vec<Session>) {
            let mut entries: Vec<_> =
                fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
            entries.sort();
            for path in entries {
                if path.is_dir() {
                    walk(&path, found);
                } else if let Ok(file) = fs::File::open(&path) {
                    let (name, file) = (path.display().to_string(), Box::new(io::BufReader::new(file)));
                    found.extend(
                        recording::open(name.as_str(), file, &recording::Options::default())
                            .into_iter()
                            .flatten(),
                    );
                }
            }
        }
        let (root, mut found) = (Path::new(env!("CARGO_MANIFEST_DIR")), Vec::new());
        ["tests/fixtures", "sample-traces"]
            .into_iter()
            .for_each(|folder| walk(&root.join(folder), &mut found));
        assert!(found.len() > 100, "{} sessions", found.len());
        found
    }

    /// Which bodies of a session share their content.
    fn sharing(session: &Session) -> Vec<usize> {
        let contents = session.messages.iter().flat_map(|message| {
            [&message.content].into_iter().chain(message.calls.iter().map(|call| &call.arguments))
        });
        let calls = session.calls.iter().flat_map(|call| [&call.arguments, &call.output]);
        let all: Vec<Option<usize>> = contents.chain(calls).map(Body::address).collect();
        all.iter().map(|one| all.iter().position(|other| other == one).unwrap()).collect()
    }

    #[test]
    fn what_comes_back_is_what_was_read_in_every_format() {
        for session in recordings() {
            let (bytes, refusals) = pack(&session, Vec::new());
            let stored = StoredSession::new(Arc::new(session.clone()), None, None);
            let back = stored.whole(unpack(&bytes, &refusals).unwrap());
            assert_eq!(back, session);
            assert_eq!(sharing(&back), sharing(&session), "{}", session.origin.file);
            for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
                assert!(unpack(&bytes[..cut], &refusals).is_none(), "{} cut at {cut}", session.origin.file);
            }
            assert!(unpack(&[bytes.clone(), vec![0]].concat(), &refusals).is_none());
        }
    }

    /// A part of the sessions fits into memory. Whatever is looked at comes back, and the bound holds after each look.
    #[test]
    fn memory_does_not_grow_beyond_its_bound() {
        let sessions = recordings();
        let largest = sessions.iter().map(weight).max().unwrap();
        let all: usize = sessions.iter().map(weight).sum();
        let most = largest + (all - largest) / 8;
        assert!(most < all / 2);
        let (shelf, before) = (Arc::new(Shelf::default()), sessions.clone());
        let store = SessionStore::new(Box::new(Arc::clone(&shelf)), most);
        let stored: Vec<_> = sessions.into_iter().map(|session| store.put(session)).collect();
        let resident = |stored: &[Arc<StoredSession>]| {
            let own = stored.iter().filter(|stored| stored.content().session.is_some());
            own.map(|stored| stored.weight).sum::<usize>()
        };
        assert!(store.is_outgrown() && stored[0].may_leave());
        assert_eq!(resident(&stored), store.weight.load(Ordering::Relaxed));
        let mut place = 7;
        for _ in 0..4 * stored.len() {
            place = (place * 31 + 11) % stored.len();
            assert_eq!(*stored[place].session().unwrap(), before[place]);
            assert!(resident(&stored) <= most, "{} of {most}", resident(&stored));
            assert_eq!(resident(&stored), store.weight.load(Ordering::Relaxed));
        }
        // A session that is removed from the list takes no memory.
        drop(stored);
        assert_eq!(store.weight.load(Ordering::Relaxed), 0);
    }

    /// Walking through a corpus leaves neither sessions nor entries of the queue.
    #[test]
    fn what_was_looked_at_leaves_at_once_where_memory_is_full() {
        let sessions = recordings();
        let most = sessions.iter().map(weight).sum::<usize>() / 2;
        let store = SessionStore::new(Box::<Arc<Shelf>>::default(), most);
        let stored: Vec<_> = sessions.iter().cloned().map(|session| store.put(session)).collect();
        for _ in 0..3 {
            for (stored, before) in stored.iter().zip(&sessions) {
                assert_eq!(*stored.session().unwrap(), *before);
                stored.put_down();
                assert!(!stored.is_in_memory());
            }
        }
        assert_eq!(store.weight.load(Ordering::Relaxed), 0);
        assert!(store.queue().len() <= stored.len());
        // If all of them fit, they stay.
        let store = SessionStore::new(Box::<Arc<Shelf>>::default(), usize::MAX);
        let stored = store.put(sessions[0].clone());
        stored.put_down();
        assert!(stored.is_in_memory());
    }

    #[test]
    fn sessions_that_fit_into_memory_are_written_nowhere() {
        let shelf = Arc::new(Shelf::default());
        let store = SessionStore::new(Box::new(Arc::clone(&shelf)), usize::MAX);
        let stored: Vec<_> = recordings().into_iter().map(|session| store.put(session)).collect();
        assert!(!store.is_outgrown() && shelf.0.lock().unwrap().is_empty());
        let one = stored[0].session().unwrap();
        assert!(Arc::ptr_eq(&one, &stored[0].session().unwrap()), "it is the same one each time");
    }

    #[test]
    fn what_stands_elsewhere_is_never_taken_for_the_session() {
        let shelf = Arc::new(Shelf::default());
        let store = SessionStore::new(Box::new(Arc::clone(&shelf)), 0);
        let stored: Vec<_> = recordings().into_iter().take(20).map(|session| store.put(session)).collect();
        let length = shelf.0.lock().unwrap().len();
        let at = stored[3].content().outside.clone().unwrap();
        shelf.0.lock().unwrap()[at.place as usize + at.length / 2] ^= 1;
        assert!(matches!(stored[3].session(), Err(NotRestored::Changed)));
        assert!(!stored[3].is_equal(&StoredSession::resident(stored[2].session().unwrap())));
        shelf.0.lock().unwrap().truncate(length / 2);
        assert!(matches!(stored[19].session(), Err(NotRestored::System(_))));
        assert!(stored[0].session().is_ok());
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_lost() {
        let before = recordings();
        let store = SessionStore::new(Box::new(Full), 0);
        let stored: Vec<_> = before.iter().cloned().map(|session| store.put(session)).collect();
        assert!(store.fault().is_some());
        for (stored, before) in stored.iter().zip(&before) {
            assert_eq!(*stored.session().unwrap(), *before);
        }
    }

    #[test]
    fn equal_sessions_are_equal_wherever_they_are() {
        let sessions = recordings();
        let kept = SessionStore::new(Box::new(Arc::new(Shelf::default())), usize::MAX);
        let left = SessionStore::new(Box::new(Arc::new(Shelf::default())), 0);
        let of = |store: &Arc<SessionStore>| -> Vec<_> {
            sessions.iter().take(60).map(|session| store.put(session.clone())).collect()
        };
        let (one, other, third) = (of(&kept), of(&left), of(&left));
        for at in 0..one.len() {
            assert!(one[at].is_equal(&other[at]) && other[at].is_equal(&third[at]));
            for others in 0..one.len() {
                let same = sessions[at] == sessions[others];
                assert_eq!(other[at].is_equal(&third[others]), same, "{at} {others}");
            }
        }
    }
}
