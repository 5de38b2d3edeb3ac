# Homebrew's formula. `cargo xtask release` writes it with the version and the checksum of a release.
class Spirula < Formula
  desc "Compile compute programs to SPIR-V and run them"
  homepage "https://github.com/spirula/spirula"
  url "https://github.com/spirula/spirula/releases/download/v@VERSION@/spirula-@VERSION@-source.tar.gz"
  sha256 "@SOURCE_SHA256@"
  license any_of: ["MIT", "Apache-2.0"]
  head "https://github.com/spirula/spirula.git", branch: "main"

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/app/cli"), "--features", "wgsl"
    generate_completions_from_executable(bin/"spirula", "completions")
    system bin/"spirula", "man", buildpath/"man"
    man1.install Dir["man/*.1"]
    pkgshare.install "examples"
  end

  test do
    output = shell_output("#{bin}/spirula run #{pkgshare}/examples/double.spvasm --global 4 --arg 4xu32=iota")
    assert_match "0 2 4 6", output
  end
end
