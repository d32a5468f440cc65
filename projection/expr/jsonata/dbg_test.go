package jsonata
import ("testing";"context";"os";"fmt";"strings")
func TestDbg(t *testing.T){ debugPanics=true
 e:=os.Getenv("E"); if e==""{t.Skip()}
 p,err:=Compile(e); if err!=nil{fmt.Println(err);return}
 in:=os.Getenv("I"); inp:=UndefinedInput(); if in!=""{inp=JSONInput([]byte(in))}
 r,err:=p.Eval(context.Background(),inp,Limits{})
 fmt.Println(string(r.JSON),r.Undefined,err,r.Usage)
}
func TestDbgFile(t *testing.T){
 f:=os.Getenv("F"); if f==""{t.Skip()}
 raw,_:=os.ReadFile(f)
 in:=os.Getenv("I"); inp:=UndefinedInput(); if in!=""{inp=JSONInput([]byte(in))}
 for _,l:=range strings.Split(string(raw),"\n"){ if l==""{continue}
  var r Result
  p,err:=Compile(l); if err==nil{ r,err=p.Eval(context.Background(),inp,Limits{})}
  out:=string(r.JSON); if r.Undefined{out="undefined"}
  if err!=nil{ out="ERR "+err.(*Error).Code; if strings.HasPrefix(err.(*Error).Code,"L"){out+=err.Error()} }
  fmt.Println(l,"=>",out)
 }
}
