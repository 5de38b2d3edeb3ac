# Nix' derivation of the command. From a checkout:
#   nix-build --expr '(import <nixpkgs> { }).callPackage ./packaging/nix/package.nix { }'
{
  lib,
  installShellFiles,
  rustPlatform,
  src ? ../..,
}:

rustPlatform.buildRustPackage {
  pname = "spirula";
  version = "0.1.0";

  src = lib.cleanSource src;
  cargoLock.lockFile = src + "/Cargo.lock";

  cargoBuildFlags = [
    "--package"
    "spirula-cli"
  ];
  # The programs of a distribution are position-independent.
  buildNoDefaultFeatures = true;
  buildFeatures = [ "wgsl" ];

  # The tests of the repository fetch drivers and validators.
  doCheck = false;

  nativeBuildInputs = [ installShellFiles ];
  postInstall = ''
    $out/bin/spirula man man
    installManPage man/*.1
    installShellCompletion --cmd spirula \
      --bash <($out/bin/spirula completions bash) \
      --fish <($out/bin/spirula completions fish) \
      --zsh <($out/bin/spirula completions zsh)
  '';

  doInstallCheck = true;
  installCheckPhase = ''
    $out/bin/spirula run examples/double.spvasm --global 4 --arg 4xu32=iota | grep "0 2 4 6"
  '';

  meta = {
    description = "Compile compute programs to SPIR-V and run them";
    homepage = "https://github.com/spirula/spirula";
    license = with lib.licenses; [
      mit
      asl20
    ];
    mainProgram = "spirula";
    platforms = lib.platforms.unix;
  };
}
