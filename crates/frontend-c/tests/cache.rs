//! Modules that are kept: found again while nothing has changed, and only then.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use parallax_files::{Scratch, sha256};
use parallax_frontend_c::{Options, load};

/// A folder with a program that returns what a header says, and one for modules.
struct Place {
    folder: Scratch,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: Scratch::new().unwrap() };
        place.write("number.h", "#define NUMBER 11\n");
        place.write("main.c", "#include <number.h>\nint main(void) { return NUMBER; }\n");
        fs::create_dir(place.at("early")).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn modules(&self) -> PathBuf {
        self.at("cache/modules")
    }

    fn options(&self, more: &[&str]) -> Options {
        let folders = [self.at("early"), self.folder.path().to_path_buf()];
        let folders = folders.iter().map(|folder| format!("-I{}", folder.display()));
        let clang_args = folders.chain(more.iter().map(|arg| arg.to_string())).collect();
        Options { clang_args, cache: Some(self.modules()), ..Options::default() }
    }

    /// The program as text, with these arguments for clang.
    fn text(&self, more: &[&str]) -> String {
        load(&[self.at("main.c")], &self.options(more)).expect("a program").to_string()
    }

    fn returns(&self, number: u32) -> bool {
        self.text(&[]).contains(&format!("return {number}:32"))
    }

    fn entries(&self) -> Vec<PathBuf> {
        let folder = fs::read_dir(self.modules()).map(|folder| folder.flatten().collect());
        let folder: Vec<fs::DirEntry> = folder.unwrap_or_default();
        folder.iter().map(|entry| entry.path()).collect()
    }
}

/// Puts another number into an entry, and the hash that goes with it.
fn forge(entry: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(entry).unwrap();
    let mut lines = text.splitn(3, '\n');
    let (form, _, rest) = (lines.next().unwrap(), lines.next().unwrap(), lines.next().unwrap());
    let rest = rest.replace(from, to);
    fs::write(entry, format!("{form}\n{}\n{rest}", sha256(rest.as_bytes()))).unwrap();
}

#[test]
fn a_module_is_found_again() {
    let place = Place::new();
    assert!(place.returns(11));
    let entries = place.entries();
    assert_eq!(entries.len(), 1);
    // Nobody runs clang for what is there.
    forge(&entries[0], "ret i32 11", "ret i32 12");
    assert!(place.returns(12));
    let mode = fs::metadata(place.modules()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_module_is_made_anew_where_something_has_changed() {
    let place = Place::new();
    assert!(place.returns(11));
    place.write("number.h", "#define NUMBER 13\n");
    assert!(place.returns(13));
    // A header that comes before it.
    place.write("early/number.h", "#define NUMBER 14\n");
    assert!(place.returns(14));
    fs::remove_file(place.at("early/number.h")).unwrap();
    assert!(place.returns(13));
    place.write("main.c", "int main(void) { return 15; }\n");
    assert!(place.returns(15));
    assert_eq!(place.entries().len(), 2);
    let before = place.text(&[]);
    place.text(&["-DOTHER"]);
    assert_eq!(place.entries().len(), 3);
    assert_eq!(place.text(&[]), before);
    let overflow = Options { overflow: true, ..place.options(&[]) };
    load(&[place.at("main.c")], &overflow).expect("a program");
    assert_eq!(place.entries().len(), 4);
}

#[test]
fn what_depends_on_more_is_not_kept() {
    let texts = [
        "#if __has_include(<number.h>)\nint main(void) { return 1; }\n#endif\n",
        "int main(void) { return __TIME__[0] == 'x'; }\n",
        "int a[] = {\n#embed __FILE__\n};\nint main(void) { return 0; }\n",
    ];
    for text in texts {
        let place = Place::new();
        place.write("main.c", text);
        let _ = load(&[place.at("main.c")], &place.options(&[]));
        assert_eq!(place.entries(), Vec::<PathBuf>::new(), "{text}");
    }
    let place = Place::new();
    place.write("number.h", "#define NUMBER __has_include(<none.h>)\n");
    place.write("main.c", "#include <number.h>\nint main(void) { return 0; }\n");
    place.text(&[]);
    place.text(&["-fno-strict-aliasing"]);
    assert_eq!(place.entries(), Vec::<PathBuf>::new());
    // A file that clang refuses is none.
    place.write("main.c", "int main(void) { return none; }\n");
    let errors = load(&[place.at("main.c")], &place.options(&[])).unwrap_err();
    assert!(errors[0].message.contains("undeclared"), "{errors:?}");
    assert_eq!(place.entries(), Vec::<PathBuf>::new());
}

#[test]
fn damaged_entries_are_made_anew() {
    let place = Place::new();
    assert!(place.returns(11));
    let entry = place.entries().remove(0);
    let whole = fs::read(&entry).unwrap();
    let mut flipped = whole.clone();
    let last = flipped.len() - 2;
    flipped[last] ^= 1;
    let damaged = [&b""[..], &whole[..whole.len() / 2], &flipped, b"parallax module 1\n\n", &[255]];
    for damage in damaged {
        fs::write(&entry, damage).unwrap();
        assert!(place.returns(11));
        // It names the temporary folder of its making.
        assert_eq!(fs::read(&entry).unwrap().len(), whole.len());
    }
    fs::remove_file(&entry).unwrap();
    fs::create_dir(&entry).unwrap();
    assert!(place.returns(11));
}

#[test]
fn a_folder_that_others_can_write_to_is_not_used() {
    let place = Place::new();
    fs::create_dir_all(place.modules()).unwrap();
    fs::set_permissions(place.modules(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(place.returns(11));
    assert_eq!(place.entries(), Vec::<PathBuf>::new());
    // One that cannot be made is none.
    let options = Options { cache: Some(place.at("main.c/modules")), ..place.options(&[]) };
    assert!(load(&[place.at("main.c")], &options).is_ok());
}

#[test]
fn writers_need_not_know_of_one_another() {
    let place = Place::new();
    let expected = load(&[place.at("main.c")], &Options { cache: None, ..place.options(&[]) });
    let expected = expected.expect("a program").to_string();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(place.text(&[]), expected));
        }
    });
    assert_eq!(place.entries().len(), 1);
    assert_eq!(place.text(&[]), expected);
}
